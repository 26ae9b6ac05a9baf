import { calibrate, decide, questionHash } from "evaluator-calibration";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { ConfigurationError, ConnectionError, TimeoutError } from "../errors.ts";
import { boolean, choice, score } from "../questions/kinds.ts";
import { answeringTransport } from "../testing/answering-transport.ts";
import { escalating, questions, request } from "../testing/escalating.ts";
import { escalate } from "./escalate.ts";

const lost = () =>
  Promise.reject(new ConnectionError("Cut.", { isRetryable: false, maybeBilled: true }));

test("asks the next evaluator again for the unsure questions alone", async () => {
  const run = escalating();
  const evaluation = await run.ask();
  expect(run.asked).toEqual([["scam", "deal"]]);
  expect(run.askedAgain).toEqual([["scam"]]);
  expect(evaluation.answers).toEqual({
    scam: { type: "boolean", probability: 0.97 },
    deal: { type: "boolean", probability: 0.99 },
  });
  expect(evaluation.route).toEqual({
    scam: { step: 2, transport: "second", modelId: "model of second", isSure: null, failure: null },
    deal: { step: 1, transport: "first", modelId: "model of first", isSure: null, failure: null },
  });
});

test("prices, tokens and attempts of both count, and two models are no single one", async () => {
  const evaluation = await escalating().ask();
  expect(evaluation.costUsd).toBeCloseTo(0.011, 9);
  expect(evaluation).toMatchObject({
    usage: { inputTokens: 200, outputTokens: 6 },
    timing: { attempts: 2 },
    modelId: null,
    transport: "first",
    steps: [{ costUsd: 0.001 }, { costUsd: 0.01 }],
  });
});

test("an unknown price or count of one evaluator makes the sum unknown", async () => {
  const evaluation = await escalating({ second: { costUsd: null, usage: null } }).ask();
  expect(evaluation).toMatchObject({ costUsd: null, usage: null });
});

test("sends nothing again that is sure, at the bound too", async () => {
  const run = escalating({ bounds: { scam: { below: 0.6 }, deal: { between: [0.2, 0.99] } } });
  const evaluation = await run.ask();
  expect(run.askedAgain).toEqual([]);
  expect(evaluation.route?.scam).toMatchObject({ step: 1, isSure: true });
  expect(evaluation.modelId).toBe("model of first");
  expect(evaluation).not.toHaveProperty("steps");
});

test("goes by the most probable side, option or level, and never by confidence", async () => {
  const kind = choice("Which?", { receipt: "a receipt", other: "another" });
  const level = score("How much?", ["low", "some", "high"]);
  const answers = {
    no: 0.15,
    kind: { type: "choice", choice: "other", probabilities: { receipt: 0.3, other: 0.7 } },
    level: { type: "score", score: 1, probabilities: { 0: 0.4, 1: 0.2, 2: 0.4 } },
  };
  const first = answeringTransport({ answers });
  const second = answeringTransport({ answers });
  const next = createEvaluator({ transport: second.transport });
  const bounds = { no: { below: 0.8 }, kind: { below: 0.8 }, level: { below: 0.5 } };
  const evaluator = createEvaluator({ transport: first.transport }).with(escalate(next, bounds));
  await evaluator.evaluate({ state: "a", questions: { no: boolean("No?"), kind, level } });
  expect(second.asked).toEqual([["kind", "level"]]);
});

test("asks for exactly the answers that decide() would not act on", async () => {
  const anyShare = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100);
  const threshold = fc.record({ action: fc.constantFrom("yes", "no"), threshold: anyShare });
  await fc.assert(
    fc.asyncProperty(anyShare, anyShare, fc.array(threshold), async (scam, deal, thresholds) => {
      const artifact = {
        version: 2 as const,
        kind: "none" as const,
        parameters: {},
        model: { id: "model of first", wire: null },
        questionHash: questionHash(questions),
        rounding: { probabilityDecimals: 2 },
        fittedOn: { n: 0, from: null, to: null, hash: "" },
        heldOut: null,
        thresholds: thresholds.map(({ action, threshold: at }) => ({
          question: "scam",
          action,
          threshold: at,
          maxRisk: 0.05,
          confidence: 0.95,
          n: 100,
          wrong: 1,
        })),
      };
      const answers = { scam, deal };
      const run = escalating({ first: { answers }, bounds: { scam: { promise: artifact } } });
      const evaluation = await run.ask();
      const [printed = evaluation] = evaluation.steps ?? [];
      const { act } = decide(printed, artifact, { questions }).scam ?? { act: null };
      expect(run.askedAgain).toEqual(act === null ? [["scam"]] : []);
      expect(calibrate(printed, artifact, { questions }).calibrated).toBe(true);
    }),
  );
});

const artifact = {
  model: { id: "model of first" },
  questionHash: questionHash(questions),
  thresholds: [{ question: "scam", action: "yes", threshold: 0.5 }],
};

test("an answer of another model than the promise is for is unsure", async () => {
  const bounds = { scam: { promise: artifact } };
  expect((await escalating({ bounds }).ask()).route?.scam.step).toBe(1);
  const run = escalating({ bounds, first: { modelId: "another" } });
  expect((await run.ask()).route?.scam.step).toBe(2);
});

test("an answer has no part in a promise about exactly some records", async () => {
  const thresholds = artifact.thresholds.map((threshold) => ({ ...threshold, these: {} }));
  const run = escalating({ bounds: { scam: { promise: { ...artifact, thresholds } } } });
  expect((await run.ask()).route?.scam.step).toBe(2);
});

const cut = [{ type: "state-cut", message: "It was cut." }];

test("no promise holds for a state that was not read as a whole", async () => {
  const run = escalating({ bounds: { scam: { promise: artifact } }, first: { warnings: cut } });
  expect((await run.ask()).route?.scam.step).toBe(2);
});

test("a state that either evaluator cut is known of the answers of both", async () => {
  for (const played of [{ first: { warnings: cut } }, { second: { warnings: cut } }]) {
    expect((await escalating(played).ask()).warnings).toEqual(cut);
  }
  const whole = escalating({
    first: { warnings: cut },
    bounds: { scam: { below: 1 }, deal: { below: 1 } },
  });
  expect((await whole.ask()).warnings).toEqual([]);
});

test.each([
  ["other questions", { ...artifact, questionHash: "other" }, "other questions"],
  ["no questions", { ...artifact, questionHash: null }, "names no questions"],
])("a promise for %s is refused before anything is sent", async (_, promise, message) => {
  const asking = async () => {
    const run = escalating({ bounds: { scam: { promise } } });
    await run.ask().finally(() => expect(run.asked).toEqual([]));
  };
  await expect(asking()).rejects.toThrow(ConfigurationError);
  await expect(asking()).rejects.toThrow(message);
});

test("the next evaluator has its own bounds", async () => {
  const second = { ...artifact, model: { id: "model of second" } };
  const sure = escalating({ nextBounds: { scam: { promise: second } } });
  expect((await sure.ask()).route?.scam).toMatchObject({ step: 2, isSure: true });
  const unsure = escalating({ nextBounds: { scam: { below: 0.99 } } });
  expect((await unsure.ask()).route?.scam).toMatchObject({ step: 2, isSure: false });
});

test("a chain asks each evaluator for the questions that the one before was unsure of", async () => {
  const last = answeringTransport({ name: "third", answers: { scam: 0.01 }, costUsd: 1 });
  const third = createEvaluator({ transport: last.transport });
  const run = escalating({ second: { answers: { scam: 0.7 } } });
  const nested = run.next.with(escalate(third, { scam: { below: 0.8 } }));
  const first = answeringTransport({ answers: { scam: 0.6, deal: 0.99 } });
  const own = createEvaluator({ transport: first.transport });
  for (const evaluator of [
    own.with(escalate(nested, { scam: { below: 0.8 } })),
    own
      .with(escalate(run.next, { scam: { below: 0.8 } }))
      .with(escalate(third, { scam: { below: 0.8 } })),
  ]) {
    const evaluation = await evaluator.evaluate(request);
    expect(evaluation.route).toMatchObject({
      scam: { step: 3, transport: "third" },
      deal: { step: 1 },
    });
    expect(evaluation.costUsd).toBeCloseTo(1.011, 9);
    expect(evaluation.steps).toHaveLength(3);
  }
});

test("a failed next evaluator leaves the first answer with its mark", async () => {
  const run = escalating({ second: { before: lost } });
  const evaluation = await run.ask();
  expect(evaluation.answers.scam.probability).toBe(0.6);
  expect(evaluation.route?.scam).toMatchObject({ step: 1, isSure: false });
  expect(evaluation.route?.scam.failure).toContain("ConnectionError: Cut.");
  expect(evaluation.route?.deal.failure).toBeNull();
  expect(evaluation.costUsd).toBe(0.001);
});

test("an error of a helper that is no evaluator is named without its text", async () => {
  const first = answeringTransport({ answers: { scam: 0.6, deal: 0.99 } });
  const people = { evaluate: () => Promise.reject(new RangeError("a letter")) };
  const evaluator = createEvaluator({ transport: first.transport }).with(
    escalate(people, { scam: { below: 0.8 } }),
  );
  expect((await evaluator.evaluate(request)).route?.scam.failure).toBe("RangeError");
});

test("a model that refuses some questions has answered the others", async () => {
  const second = { answers: { scam: { type: "refusal" }, deal: 0.97 } };
  const bounds = { scam: { below: 0.8 }, deal: { below: 1 } };
  const run = escalating({ second, bounds });
  const evaluation = await run.ask();
  expect(evaluation.answers).toMatchObject({
    scam: { probability: 0.6 },
    deal: { probability: 0.97 },
  });
  expect(evaluation.route).toMatchObject({
    scam: { step: 1, isSure: false },
    deal: { step: 2, transport: "second", modelId: "model of second", failure: null },
  });
  expect(evaluation.route?.scam.failure).toContain("declined");
  expect(evaluation.costUsd).toBeCloseTo(0.011, 9);
});

test("an error of configuration is not swallowed", async () => {
  const run = escalating();
  await run.next.close();
  await expect(run.ask()).rejects.toThrow("closed");
});

test("a deadline that passes in the next evaluator keeps the first answer", async () => {
  const run = escalating({ second: { before: () => new Promise(() => undefined) } });
  const answer = run.ask({ deadlineMs: 500 });
  await run.clock.advance(1000);
  const evaluation = await answer;
  expect(evaluation.answers.scam.probability).toBe(0.6);
  expect(evaluation.route?.scam.failure).toContain("TimeoutError");
});

test("a deadline that passes in the first evaluator still ends the call", async () => {
  const run = escalating({ first: { before: () => new Promise(() => undefined) } });
  const answer = run.ask({ deadlineMs: 500 }).catch((error: unknown) => error);
  await run.clock.advance(1000);
  expect(await answer).toBeInstanceOf(TimeoutError);
  expect(run.askedAgain).toEqual([]);
});

test("the caller's abort ends the call with its reason", async () => {
  const controller = new AbortController();
  const run = escalating({ second: { before: async () => controller.abort(new Error("enough")) } });
  await expect(run.ask({ signal: controller.signal })).rejects.toThrow("enough");
});

test("names such as __proto__ are ordinary ids", async () => {
  const answers = Object.fromEntries([
    ["__proto__", 0.6],
    ["constructor", 0.99],
  ]);
  const ids = Object.fromEntries([
    ["__proto__", boolean("A?")],
    ["constructor", boolean("B?")],
  ]);
  const first = answeringTransport({ answers });
  const again = Object.fromEntries([["__proto__", 0.9]]);
  const second = answeringTransport({ name: "second", answers: again });
  const bounds = Object.fromEntries([["__proto__", { below: 0.8 }]]);
  const next = createEvaluator({ transport: second.transport });
  const evaluator = createEvaluator({ transport: first.transport }).with(escalate(next, bounds));
  const evaluation = await evaluator.evaluate({ state: "a", questions: ids });
  expect(second.asked).toEqual([["__proto__"]]);
  expect(Object.getOwnPropertyDescriptor(evaluation.answers, "__proto__")?.value).toEqual({
    type: "boolean",
    probability: 0.9,
  });
  expect(Object.keys(evaluation.route ?? {})).toEqual(["__proto__", "constructor"]);
});
