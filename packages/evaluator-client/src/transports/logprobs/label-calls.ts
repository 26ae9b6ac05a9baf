import { findHeader } from "../../http/http-response.ts";
import { textAt } from "../../questions/json.ts";
import type { Questions } from "../../questions/kinds.ts";
import type { Transport, TransportReply } from "../transport.ts";
import { askQuestion } from "./ask-question.ts";
import { LabelConnection, type ServerAddress } from "./label-connection.ts";
import { LabelSession } from "./label-session.ts";
import { type planQuestion, promptFormat } from "./question-plan.ts";

/** The price of a model's tokens, in US dollars; `listModels` of a catalog gives it in this form. */
export interface TokenPrice {
  /** US dollars per million input tokens. */
  readonly inputUsdPerMillionTokens: number | null;
  /** US dollars per million output tokens. @default the price of input */
  readonly outputUsdPerMillionTokens?: number | null;
}

/** How a server is asked and its tokens are read. */
interface Asking {
  /** Returns the plan of each question. */
  readonly plansOf: (
    questions: Questions,
  ) => readonly { readonly id: string; readonly plan: ReturnType<typeof planQuestion> }[];
  readonly minLabelMass: number;
  readonly price: TokenPrice | undefined;
}

/** Returns the code of a server's calls, which its first call loads: a session for each attempt. */
export function labelCalls(
  address: ServerAddress,
  { plansOf, minLabelMass, price }: Asking,
): Pick<Transport, "send"> {
  const connection = new LabelConnection(address);
  return {
    async send(request, context) {
      const plans = plansOf(request.questions);
      const { signal, clock } = context;
      const server = await connection.findServer({ signal, clock, state: request.state });
      const session = new LabelSession(server, connection, { request, context });
      const read = await session.run(() =>
        Promise.all(
          plans.map(async ({ id, plan }) => {
            const reading = await askQuestion(plan, { id, minLabelMass, session });
            const details = { ...reading.details, promptFormat };
            return { id, answer: plan.toAnswer(reading.probabilities), details };
          }),
        ),
      );
      return toReply(read, session, price);
    },
  };
}

/** Puts answers into the gateway's form, without rounding. */
function toReply(
  read: readonly { readonly id: string; readonly answer: object; readonly details: object }[],
  { replies }: LabelSession,
  price: TokenPrice | undefined,
): TransportReply {
  const usage = { inputTokens: 0, outputTokens: 0 };
  for (const { inputTokens, outputTokens } of replies) {
    usage.inputTokens += inputTokens;
    usage.outputTokens += outputTokens;
  }
  const last = replies.at(-1)?.response;
  return {
    response: {
      answers: Object.fromEntries(read.map(({ id, answer }) => [id, answer])),
      rounding: { probabilityDecimals: 15, scoreDecimals: 15 },
      usage,
      warnings: [],
      providerMetadata: {
        logprobs: Object.fromEntries(read.map(({ id, details }) => [id, details])),
      },
    },
    ...(last && { status: last.status, headers: last.headers }),
    modelId: textAt(last?.json, "model"),
    requestId: (last && findHeader(last, "x-request-id")) ?? textAt(last?.json, "id"),
    raw: replies.map(({ response }) => response.json),
    definesConfidence: false,
    costUsd: toCost(usage, price),
  };
}

function toCost(usage: { inputTokens: number; outputTokens: number }, price?: TokenPrice) {
  const input = price?.inputUsdPerMillionTokens ?? null;
  if (input === null) return null;
  const output = price?.outputUsdPerMillionTokens ?? input;
  return (usage.inputTokens * input + usage.outputTokens * output) / 1_000_000;
}
