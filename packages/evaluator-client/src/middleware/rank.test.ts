import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { ConfigurationError, ConnectionError } from "../errors.ts";
import { boolean, choice, score } from "../questions/kinds.ts";
import type { Transport } from "../transports/transport.ts";
import { rank } from "./rank.ts";

/** An evaluator that answers with the candidate's own number, and fails for a negative one. */
function evaluatorOf(toAnswer: (value: number) => object) {
  const states: unknown[] = [];
  const transport: Transport = {
    name: "own",
    async send({ state }) {
      states.push(state);
      const { candidate } = state as unknown as { candidate: number };
      if (candidate < 0) throw new ConnectionError("Cut.", { maybeBilled: false });
      const response = { answers: { value: toAnswer(candidate) } };
      return { response, modelId: null, requestId: null, raw: response, costUsd: null };
    },
  };
  return { evaluator: createEvaluator({ transport, maxRetries: 0 }), states };
}

test("candidates are sorted by the probability of yes, with ties and failures told", async () => {
  const { evaluator, states } = evaluatorOf((probability) => ({ type: "boolean", probability }));
  const question = boolean("Does it answer?");
  const ranked = await rank(evaluator, {
    state: "Why?",
    candidates: [0.5, -1, 0.9, 0.5, 0],
    question,
  });
  expect(
    ranked.map((place) => [
      place.candidate,
      place.value,
      place.rank,
      place.isTied,
      place.error?.message,
    ]),
  ).toEqual([
    [0.9, 0.9, 1, false, undefined],
    [0.5, 0.5, 2, true, undefined],
    [0.5, 0.5, 2, true, undefined],
    [0, 0, 4, false, undefined],
    [-1, null, null, false, expect.stringContaining("Cut.")],
  ]);
  expect(states).toContainEqual({ state: "Why?", candidate: 0.9 });
});

test("a score ranks by its mean, and no candidates are no ranking", async () => {
  const toAnswer = (share: number) => ({
    type: "score",
    score: share,
    probabilities: { 0: Number((1 - share).toFixed(2)), 1: share },
  });
  const { evaluator } = evaluatorOf(toAnswer);
  const question = score("How good?", ["bad", "good"]);
  const ranked = await rank(evaluator, { state: {}, candidates: [0.2, 0.7], question });
  expect(ranked.map(({ value }) => value)).toEqual([0.7, 0.2]);
  expect(await rank(evaluator, { state: {}, candidates: [], question })).toEqual([]);
});

test("a choice does not rank, and options of the batch are checked", async () => {
  const { evaluator } = evaluatorOf(() => ({}));
  const question = choice("Which?", { a: null, b: null }) as never;
  const asked = rank(evaluator, { state: "", candidates: [1], question });
  await expect(asked).rejects.toThrow(ConfigurationError);
  const options = { state: "", candidates: [1], question: boolean("?"), concurrency: 0 };
  await expect(rank(evaluator, options)).rejects.toThrow("concurrency");
});
