import { loadFixtures } from "../../testing/replay-exchanges.ts";
import { expect, test } from "vitest";
import { createEvaluator } from "../../create-evaluator.ts";
import { AuthenticationError, RateLimitError, StatusError } from "../../errors.ts";
import { wordingText } from "../../questions/wording.ts";
import type { Evaluation } from "../../evaluation.ts";
import type { EvaluationRequest } from "../../questions/request.ts";
import type { Questions } from "../../questions/kinds.ts";
import { type Opinion, ownServer, playChat } from "../../testing/played-chat.ts";
import { gatewayTransport } from "../gateway/gateway-transport.ts";
import { logprobsTransport } from "./logprobs-transport.ts";

const exchanges = loadFixtures().filter(({ name }) => name.startsWith("gateway/"));
const answered = exchanges.filter(
  ({ request, response }) =>
    response.status === 200 &&
    Object.hasOwn(response.body as object, "answers") &&
    Object.hasOwn(request.body as object, "questions"),
);

/** The opinion that a recorded response has of its questions' options, levels and yes or no. */
function opinionIn({ answers }: Pick<Evaluation, "answers">, questions: Questions): Opinion {
  return (asked, option) => {
    const ids = Object.keys(questions).filter((id) => questions[id]?.instructions === asked);
    for (const id of ids) {
      const question = questions[id];
      const answer = answers[id];
      if (answer?.type === "boolean" && question?.type === "boolean") {
        return (option === "yes" ? answer.probability : 1 - answer.probability) + 1e-9;
      }
      const criteria = Object.entries(question?.criteria ?? {}).map(([key, text]) => {
        return [
          key,
          question?.type === "choice" ? `${key}: ${wordingText(text)}`.trim() : text,
        ] as const;
      });
      const key = criteria.find(([, text]) => text === option)?.[0] ?? undefined;
      const probabilities = (answer as { probabilities: Record<string, number> }).probabilities;
      // A printed 0 is below 0.005, and may be anything there.
      if (key !== undefined) return (probabilities[key] ?? 0) + 1e-9;
    }
    throw new Error(`Nobody asked about ${option}.`);
  };
}

/** What a caller sees of an evaluation, whatever its numbers: names and types. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return "list";
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item)]));
}

test.each(answered.map((exchange) => [exchange.name, exchange] as const))(
  "the answers of %s mean the same when a chat model gives them",
  async (_, exchange) => {
    const request = exchange.request.body as unknown as EvaluationRequest;
    const response = exchange.response.body as unknown as Evaluation;
    const { fetch } = playChat(opinionIn(response, request.questions));
    const gateway = gatewayTransport({
      apiKey: "a-key",
      env: {},
      fetch: async () => Response.json(response),
    });
    const viaChat = await evaluate(logprobsTransport({ ...ownServer, fetch }), request);
    const viaGateway = await evaluate(gateway, request);
    expect(shapeOf(viaChat.answers)).toEqual(shapeOf(viaGateway.answers));
    expect(Object.keys(viaChat).toSorted()).toEqual(Object.keys(viaGateway).toSorted());
    expect(Object.keys(viaChat.confidence)).toEqual(Object.keys(viaGateway.confidence));
    const chosen = Object.values(viaGateway.answers).map((answer) => pickedIn(answer));
    expect(Object.values(viaChat.answers).map((answer) => pickedIn(answer))).toEqual(chosen);
    for (const [id, numbers] of Object.entries(numbersIn(viaGateway))) {
      const own = numbersIn(viaChat)[id] ?? [];
      for (const [index, number] of numbers.entries()) expect(own[index]).toBeCloseTo(number, 1);
    }
  },
);

function evaluate(transport: ReturnType<typeof gatewayTransport>, request: EvaluationRequest) {
  return createEvaluator({ transport, maxRetries: 0, limits: {} }).evaluate(request);
}

function pickedIn(answer: Evaluation["answers"][string]): string | null {
  return answer.type === "choice" ? answer.choice : null;
}

function numbersIn({ answers }: Evaluation): Record<string, number[]> {
  return Object.fromEntries(
    Object.entries(answers).map(([id, answer]) => {
      if (answer.type === "boolean") return [id, [answer.probability]];
      const numbers = Object.values("probabilities" in answer ? answer.probabilities : {});
      return [id, answer.type === "score" ? [...numbers, answer.score] : numbers];
    }),
  );
}

test("there are recorded answers to compare with", () => {
  expect(answered.length).toBeGreaterThan(3);
});

const statuses = [
  400, 401, 402, 403, 404, 408, 409, 413, 422, 425, 429, 500, 501, 502, 503, 504, 529,
];

test.each(statuses)("a caller acts on the status %d as over the gateway", async (status) => {
  const headers = { "retry-after": "3" };
  const fetch = async () => Response.json({ error: { message: "No." } }, { status, headers });
  const kinds = [
    logprobsTransport({ ...ownServer, server: "openai", fetch }),
    gatewayTransport({ apiKey: "a-key", env: {}, fetch }),
  ].map(async (transport) => {
    const failure: unknown = await createEvaluator({ transport, maxRetries: 0 })
      .evaluate({ state: "x", questions: { q: { type: "boolean", instructions: "?" } } })
      .catch((error: unknown) => error);
    const { isRetryable, retryAfterMs, needsPaidCredits } = failure as StatusError;
    const kind = [AuthenticationError, RateLimitError, StatusError].find(
      (one) => failure instanceof one,
    );
    return { kind: kind?.name, isRetryable, retryAfterMs, needsPaidCredits };
  });
  const [viaChat, viaGateway] = await Promise.all(kinds);
  expect(viaChat).toEqual(viaGateway);
});
