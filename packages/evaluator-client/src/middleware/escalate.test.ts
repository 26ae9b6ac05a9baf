import { calibrate, decide, questionHash } from "evaluator-calibration";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import { ConfigurationError, ConnectionError, TimeoutError } from "../errors.ts";
import type { EvaluateOptions } from "../evaluator-options.ts";
import { boolean, choice, score } from "../questions/kinds.ts";
import { answeringTransport } from "../testing/answering-transport.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { budget } from "./budget.ts";
import { cache } from "./cache.ts";
import { type Bounds, escalate, type EscalateOptions } from "./escalate.ts";

const questions = { scam: boolean("Is it a scam?"), deal: boolean("Is it a deal?") };
const request = { state: "a letter", questions };
const lost = () =>
  Promise.reject(new ConnectionError("Cut.", { isRetryable: false, maybeBilled: true }));

type Played = Partial<Parameters<typeof answeringTransport>[0]>;

/** Two evaluators on one clock; the first is unsure whether it is a scam. */
function played({
  first = {},
  second = {},
  bounds = { scam: { below: 0.8 } },
  ...options
}: {
  first?: Played;
  second?: Played;
  bounds?: Bounds;
} & EscalateOptions = {}) {
  const clock = new ManualClock();
  const one = answeringTransport({ answers: { scam: 0.6, deal: 0.99 }, ...first });
  const other = answeringTransport({
    name: "second",
    answers: { scam: 0.97, deal: 0.5 },
    costUsd: 0.01,
    ...second,
  });
  const next = createEvaluator({ transport: other.transport, maxRetries: 0 }, { clock });
  const own = createEvaluator({ transport: one.transport, maxRetries: 0 }, { clock });
  const evaluator = own.with(escalate(next, bounds, options));
  const ask = (options: EvaluateOptions = {}) => evaluator.evaluate(request, options);
  return { clock, evaluator, next, ask, asked: one.asked, askedAgain: other.asked };
}

test("asks the next evaluator again for the unsure questions alone", async () => {
  const run = played();
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
  const evaluation = await played().ask();
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
  const evaluation = await played({ second: { costUsd: null, usage: null } }).ask();
  expect(evaluation).toMatchObject({ costUsd: null, usage: null });
});

test("sends nothing again that is sure, at the bound too", async () => {
  const run = played({ bounds: { scam: { below: 0.6 }, deal: { between: [0.2, 0.99] } } });
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
          action: action as "yes" | "no",
          threshold: at,
          maxRisk: 0.05,
          confidence: 0.95,
          n: 100,
          wrong: 1,
        })),
      };
      const answers = { scam, deal };
      const run = played({ first: { answers }, bounds: { scam: { promise: artifact } } });
      const evaluation = await run.ask();
      const [printed = evaluation] = evaluation.steps ?? [];
      const { act } = decide(printed as never, artifact, { questions }).scam ?? { act: null };
      expect(run.askedAgain).toEqual(act === null ? [["scam"]] : []);
      expect(calibrate(printed as never, artifact, { questions }).calibrated).toBe(true);
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
  expect((await played({ bounds }).ask()).route?.scam.step).toBe(1);
  const run = played({ bounds, first: { modelId: "another" } });
  expect((await run.ask()).route?.scam.step).toBe(2);
});

test.each([
  ["other questions", { ...artifact, questionHash: "other" }, "other questions"],
  ["no questions", { ...artifact, questionHash: null }, "names no questions"],
])("a promise for %s is refused before anything is sent", async (_, promise, message) => {
  const asking = async () => {
    const run = played({ bounds: { scam: { promise } } });
    await run.ask().finally(() => expect(run.asked).toEqual([]));
  };
  await expect(asking()).rejects.toThrow(ConfigurationError);
  await expect(asking()).rejects.toThrow(message);
});

test("the next evaluator has its own bounds", async () => {
  const second = { ...artifact, model: { id: "model of second" } };
  const sure = played({ nextBounds: { scam: { promise: second } } });
  expect((await sure.ask()).route?.scam).toMatchObject({ step: 2, isSure: true });
  const unsure = played({ nextBounds: { scam: { below: 0.99 } } });
  expect((await unsure.ask()).route?.scam).toMatchObject({ step: 2, isSure: false });
});

test("a chain asks each evaluator for the questions that the one before was unsure of", async () => {
  const last = answeringTransport({ name: "third", answers: { scam: 0.01 }, costUsd: 1 });
  const third = createEvaluator({ transport: last.transport });
  const run = played({ second: { answers: { scam: 0.7 } } });
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
  const run = played({ second: { before: lost } });
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
  const run = played({ second, bounds });
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
  const run = played();
  await run.next.close();
  await expect(run.ask()).rejects.toThrow("closed");
});

test("a deadline that passes in the next evaluator keeps the first answer", async () => {
  const run = played({ second: { before: () => new Promise(() => undefined) } });
  const answer = run.ask({ deadlineMs: 500 });
  await run.clock.advance(1000);
  const evaluation = await answer;
  expect(evaluation.answers.scam.probability).toBe(0.6);
  expect(evaluation.route?.scam.failure).toContain("TimeoutError");
});

test("a deadline that passes in the first evaluator still ends the call", async () => {
  const run = played({ first: { before: () => new Promise(() => undefined) } });
  const answer = run.ask({ deadlineMs: 500 }).catch((error: unknown) => error);
  await run.clock.advance(1000);
  expect(await answer).toBeInstanceOf(TimeoutError);
  expect(run.askedAgain).toEqual([]);
});

test("the caller's abort ends the call with its reason", async () => {
  const controller = new AbortController();
  const run = played({ second: { before: async () => controller.abort(new Error("enough")) } });
  await expect(run.ask({ signal: controller.signal })).rejects.toThrow("enough");
});

test.each([
  ["null", null],
  ["an evaluator without evaluate", {}],
])("%s is no evaluator", (_, next) => {
  expect(() => escalate(next as never, {})).toThrow(ConfigurationError);
});

test.each([
  [{ scam: { above: 0.8 } }, "scam"],
  [{ scam: { below: 80 } }, "scam.below"],
  [{ scam: { between: [0.8, 0.2] } }, "the first is lower"],
  [{ scam: { below: 0.8, betwen: [0, 1] } }, 'the options are "below"'],
])("the bound %j is wrong", (bounds, message) => {
  const { next } = played();
  expect(() => escalate(next, bounds as never)).toThrow(ConfigurationError);
  expect(() => escalate(next, bounds as never)).toThrow(message);
});

test("between is for questions with a yes", async () => {
  const first = answeringTransport({ answers: {} });
  const { next } = played();
  const evaluator = createEvaluator({ transport: first.transport }).with(
    escalate(next, { level: { between: [0.2, 0.8] } }),
  );
  const asked = evaluator.evaluate({
    state: "a",
    questions: { level: score("?", ["low", "high"]) },
  });
  await expect(asked).rejects.toThrow("use { below }");
  expect(first.asked).toEqual([]);
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

test("a budget around both reserves the second call, and counts both", async () => {
  const spent = budget({ maxTokens: 1000 });
  const reserved: number[] = [];
  const before = async () => void reserved.push(spent.spending.reservedTokens);
  const run = played({ first: { before }, second: { before } });
  await run.evaluator.with(spent).evaluate(request);
  expect(reserved[1]).toBe(2 * (reserved[0] as number));
  expect(spent.spending).toMatchObject({ tokens: 206, reservedTokens: 0, reservedUsd: 0 });
  expect(spent.spending.costUsd).toBeCloseTo(0.011, 9);
});

test("a budget without room for the second call leaves the first answer, and nothing more is sent", async () => {
  const spent = budget({ maxTokens: 60 });
  const run = played();
  const evaluation = await run.evaluator.with(spent).evaluate(request);
  expect(run.askedAgain).toEqual([]);
  expect(evaluation.route?.scam.failure).toContain("BudgetError");
  expect(spent.spending.tokens).toBe(103);
});

test("a budget counts a second call whose answer was lost", async () => {
  const spent = budget({ maxTokens: 1000, usdPerMillionTokens: 1 });
  let reserved = 0;
  const before = async () => void (reserved = spent.spending.reservedTokens);
  const run = played({ first: { before }, second: { before: lost } });
  await run.evaluator.with(spent).evaluate(request);
  expect(spent.spending.tokens).toBe(103 + reserved);
  expect(spent.spending.costUsd).toBeCloseTo(0.001 + reserved / 1e6, 9);
});

test.each([
  ["an error of configuration", { isClosed: true, each: 1 }],
  ["an abort on the way", { isClosed: false, each: 2 }],
])("a budget counts the first call, whose answer is lost to %s", async (_, { isClosed, each }) => {
  const spent = budget({ maxTokens: 1000 });
  let reserved = 0;
  const controller = new AbortController();
  const first = { before: async () => void (reserved = spent.spending.reservedTokens) };
  const run = played({ first, second: { before: async () => controller.abort(new Error("no")) } });
  if (isClosed) await run.next.close();
  const { signal } = controller;
  await expect(run.evaluator.with(spent).evaluate(request, { signal })).rejects.toThrow();
  expect(spent.spending).toMatchObject({ tokens: each * reserved, reservedTokens: 0 });
});

test("an unknown price of one evaluator does not hide the other's from a budget", async () => {
  const spent = budget({ maxCostUsd: 1, usdPerMillionTokens: 1000 });
  await played({ second: { costUsd: null } })
    .evaluator.with(spent)
    .evaluate(request);
  expect(spent.spending.costUsd).toBeCloseTo(0.001 + 103 * 0.001, 9);
});

test("a cache around both keeps whole answers, at no price, and none that waits for a better one", async () => {
  let fails = true;
  const run = played({ second: { before: () => (fails ? lost() : Promise.resolve()) } });
  const spent = budget({ maxTokens: 1000 });
  const cached = run.evaluator.with(cache()).with(spent);
  expect((await cached.evaluate(request)).route?.scam.step).toBe(1);
  fails = false;
  expect((await cached.evaluate(request)).route?.scam.step).toBe(2);
  const { tokens } = spent.spending;
  const hit = await cached.evaluate(request);
  expect(hit).toMatchObject({ route: { scam: { step: 2 } }, costUsd: 0, timing: { attempts: 0 } });
  expect(spent.spending.tokens).toBe(tokens);
  expect(run.asked).toHaveLength(2);
});
