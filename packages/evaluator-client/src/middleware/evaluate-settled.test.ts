import { questionHash } from "evaluator-calibration";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { ConfigurationError } from "../errors.ts";
import { answeringTransport } from "../testing/answering-transport.ts";
import { escalating, questions, request } from "../testing/escalating.ts";
import { evaluateSettled } from "./evaluate-settled.ts";

function evaluatorWith(answers: Readonly<Record<string, object | number>>) {
  const { transport, asked } = answeringTransport({ answers });
  return { evaluator: createEvaluator({ transport, maxRetries: 0 }), asked };
}

test("each question is answered, unsure by its bound, or refused", async () => {
  const { evaluator } = evaluatorWith({ scam: 0.6, deal: 0.99 });
  const scam = { below: 0.8 };
  const settled = await evaluateSettled(evaluator, request, { bounds: { scam } });
  expect(settled.answers).toEqual({
    scam: { status: "unsure", answer: { type: "boolean", probability: 0.6 }, bound: scam },
    deal: { status: "answered", answer: { type: "boolean", probability: 0.99 } },
  });
  expect(settled.evaluation?.requestId).toBeNull();
});

test("a refused question does not cost the other answers, their bounds and the price", async () => {
  const { evaluator } = evaluatorWith({ scam: { type: "refusal" }, deal: 0.6 });
  const settled = await evaluateSettled(evaluator, request, { bounds: { deal: { below: 0.8 } } });
  expect(settled).toMatchObject({
    answers: { scam: { status: "refused" }, deal: { status: "unsure" } },
    usage: { inputTokens: 100 },
    costUsd: 0.001,
    evaluation: null,
  });
});

test("an answer beside a refused one keeps no promise if the state was cut", async () => {
  const warnings = [{ type: "state-cut", message: "It was cut." }];
  const answers = { scam: { type: "refusal" }, deal: 0.9 };
  const { transport } = answeringTransport({ answers, warnings });
  const evaluator = createEvaluator({ transport, maxRetries: 0 });
  const thresholds = [{ question: "deal", action: "yes", threshold: 0.5 }];
  const promise = {
    model: { id: "model of first" },
    questionHash: questionHash(questions),
    thresholds,
  };
  const settled = await evaluateSettled(evaluator, request, { bounds: { deal: { promise } } });
  expect(settled.answers.deal.status).toBe("unsure");
});

test("an answer that escalate marked is unsure without a bound here", async () => {
  const second = { answers: { scam: 0.7 } };
  const { evaluator } = escalating({ second, nextBounds: { scam: { below: 0.8 } } });
  const { answers } = await evaluateSettled(evaluator, request);
  expect(answers.scam).toMatchObject({ status: "unsure", bound: null });
  const wide = await evaluateSettled(evaluator, request, { bounds: { scam: { below: 0.7 } } });
  expect(wide.answers.scam.status).toBe("answered");
});

test("a bound that does not fit is refused before anything is sent", async () => {
  const { evaluator, asked } = evaluatorWith({ scam: 0.6, deal: 0.99 });
  const promise = { model: { id: null }, questionHash: "other", thresholds: [] };
  const settled = evaluateSettled(evaluator, request, { bounds: { scam: { promise } } });
  await expect(settled).rejects.toThrow(ConfigurationError);
  expect(asked).toEqual([]);
});

test("other errors are thrown, and the options of the call hold", async () => {
  const { evaluator } = evaluatorWith({ scam: 2, deal: 0 });
  await expect(evaluateSettled(evaluator, request)).rejects.toThrow("scam");
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(evaluateSettled(evaluator, { state: "a", questions }, { signal })).rejects.toThrow(
    "enough",
  );
});
