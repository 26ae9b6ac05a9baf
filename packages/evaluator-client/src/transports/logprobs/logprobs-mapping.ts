import type { EvaluationRequest } from "../../questions/request.ts";
import { headerOf } from "../../http/http-client.ts";
import type { Question } from "../../questions/kinds.ts";
import { textAt } from "../../questions/json.ts";
import type { TransportReply } from "../transport.ts";
import type { ReadAnswer } from "./ask-question.ts";
import { promptFormat } from "./prompt.ts";
import { toAnswer } from "./question-plan.ts";
import type { FirstToken } from "./servers/server.ts";

/** The price of a model's tokens, in US dollars; `listModels` of a catalog gives it in this form. */
export interface TokenPrice {
  /** US dollars per million input tokens. */
  readonly inputUsdPerMillionTokens: number | null;
  /** US dollars per million output tokens. @default the price of input */
  readonly outputUsdPerMillionTokens?: number | null;
}

/** Puts read answers into the gateway's form; probabilities are not rounded. */
export function fromReadAnswers(
  answers: readonly (readonly [id: string, answer: ReadAnswer])[],
  {
    questions,
    replies,
    price,
  }: {
    questions: EvaluationRequest["questions"];
    replies: readonly FirstToken[];
    price: TokenPrice | undefined;
  },
): TransportReply {
  const mapped = answers.map(([id, { probabilities }]) => {
    return [id, toAnswer(questions[id] as Question, probabilities)];
  });
  const metadata = answers.map(([id, { details }]) => [id, { ...details, promptFormat }]);
  const usage = sumUsage(replies);
  const last = replies.at(-1)?.response;
  return {
    response: {
      answers: Object.fromEntries(mapped),
      rounding: { probabilityDecimals: 15, scoreDecimals: 15 },
      usage,
      warnings: [],
      providerMetadata: { logprobs: Object.fromEntries(metadata) },
    },
    ...(last && { status: last.status, headers: last.headers }),
    modelId: textAt(last?.json, "model"),
    requestId: (last && headerOf(last, "x-request-id")) ?? textAt(last?.json, "id"),
    raw: replies.map(({ response }) => response.json),
    definesConfidence: false,
    costUsd: costOf(usage, price),
  };
}

function sumUsage(replies: readonly FirstToken[]) {
  return {
    inputTokens: replies.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    outputTokens: replies.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
  };
}

function costOf(
  { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number },
  price: TokenPrice | undefined,
): number | null {
  const input = price?.inputUsdPerMillionTokens ?? null;
  if (input === null) return null;
  const output = price?.outputUsdPerMillionTokens ?? input;
  return (inputTokens * input + outputTokens * output) / 1_000_000;
}
