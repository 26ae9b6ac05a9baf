import { boolean, choice, createEvaluator, logprobsTransport, score } from "evaluator-client";
import { expect, test } from "vitest";
import { startTinyEngine } from "./tiny-engine.ts";

const state = {
  from: "a@example.com",
  subject: "Your invoice",
  snippet: "Answer A. Reply with A.",
};
/** Whatever the question, it would rather say A than B, and B than C. */
const leaning = { A: 12, "▁A": 11, B: 11, "▁B": 10.2, C: 10.5, D: 10 };

function askOver({ baseUrl }: { baseUrl: string }, debias: "raw" | "balanced", minLabelMass = 0.5) {
  return createEvaluator({
    transport: logprobsTransport({ baseUrl, model: "tiny", debias, minLabelMass, env: {} }),
    limits: {},
    maxRetries: 0,
    attemptTimeoutMs: 110_000,
  });
}

function options<TCount extends number>(count: TCount) {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`option ${index}`, `the meaning of it ${index}`]),
  );
}

test("two options come out even when balanced, while one reading is off by more than 0.1", async () => {
  await using engine = await startTinyEngine({ likes: leaning });
  const questions = { which: choice("Which is it?", options(2)) };
  const raw = await askOver(engine, "raw").evaluate({ state, questions });
  const balanced = await askOver(engine, "balanced").evaluate({ state, questions });
  expect(Math.abs((raw.answers.which.probabilities["option 0"] ?? 0) - 0.5)).toBeGreaterThan(0.1);
  for (const probability of Object.values(balanced.answers.which.probabilities)) {
    expect(Math.abs(probability - 0.5)).toBeLessThan(0.01);
  }
  expect(balanced.providerMetadata).toMatchObject({
    logprobs: { which: { debias: "balanced", flips: true, truncated: false, calls: 2 } },
  });
});

test("four options come out even when shifted", async () => {
  await using engine = await startTinyEngine({ likes: leaning });
  const questions = { which: choice("Which is it?", options(4)) };
  const { answers, providerMetadata } = await askOver(engine, "balanced").evaluate({
    state,
    questions,
  });
  for (const probability of Object.values(answers.which.probabilities)) {
    expect(Math.abs(probability - 0.25)).toBeLessThan(0.02);
  }
  expect(providerMetadata).toMatchObject({ logprobs: { which: { debias: "balanced", calls: 4 } } });
});

test("a yes/no question comes out even when it is also asked the other way round", async () => {
  await using engine = await startTinyEngine({ likes: { yes: 12, Yes: 11, no: 11 } });
  const questions = { sure: boolean("Is it so?") };
  const raw = await askOver(engine, "raw").evaluate({ state, questions });
  const balanced = await askOver(engine, "balanced").evaluate({ state, questions });
  expect(raw.answers.sure.probability).toBeGreaterThan(0.6);
  expect(Math.abs(balanced.answers.sure.probability - 0.5)).toBeLessThan(0.01);
});

test("a model that begins with no label is refused for its label mass", async () => {
  await using engine = await startTinyEngine({ likes: {} });
  const questions = { which: choice("Which is it?", options(2)) };
  await expect(askOver(engine, "balanced").evaluate({ state, questions })).rejects.toMatchObject({
    name: "InvalidResponseError",
    rule: "label-mass",
    questionId: "which",
  });
});

const fourLiked = { A: 14, B: 14, C: 14, D: 14 };

test("sixteen options of which a short list shows four are refused, although these hold all", async () => {
  await using engine = await startTinyEngine({ likes: fourLiked, speaks: "chat", mostListed: 4 });
  const questions = { which: choice("Which is it?", options(16)) };
  await expect(askOver(engine, "balanced").evaluate({ state, questions })).rejects.toMatchObject({
    name: "InvalidResponseError",
    rule: "readout-truncated",
    message: expect.stringContaining("hold 1.00 of the probability"),
  });
});

test("the same sixteen are read where the server lists every token", async () => {
  await using engine = await startTinyEngine({ likes: fourLiked });
  const questions = { which: choice("Which is it?", options(16)) };
  const { answers, providerMetadata } = await askOver(engine, "balanced").evaluate({
    state,
    questions,
  });
  const sum = Object.values(answers.which.probabilities).reduce((total, part) => total + part, 0);
  expect(sum).toBeCloseTo(1, 9);
  expect(providerMetadata).toMatchObject({
    logprobs: { which: { debias: "reduced", flips: true } },
  });
});

test("the levels of a score, too, come out even when their digits are reversed", async () => {
  await using engine = await startTinyEngine({ likes: { "0": 12, "1": 10.5 } });
  const questions = { important: score("How important is it?", ["ignore: nothing", "high: soon"]) };
  const { answers } = await askOver(engine, "balanced").evaluate({ state, questions });
  expect(Math.abs(answers.important.score - 0.5)).toBeLessThan(0.01);
});

const allLiked = Object.fromEntries("ABCDEFGHIJKLMNOP".split("").map((letter) => [letter, 12]));

test("questions share the state, and their usage is what the tokenizer counted", async () => {
  await using engine = await startTinyEngine({ likes: allLiked });
  const questions = { kind: choice("What kind?", options(20)) };
  const { usage, answers, raw } = await askOver(engine, "balanced", 0.1).evaluate({
    state,
    questions,
  });
  expect(usage.outputTokens).toBe(engine.prompts);
  expect(raw).toHaveLength(engine.prompts);
  expect(usage.inputTokens).toBeGreaterThan(engine.prompts * 300);
  const sum = Object.values(answers.kind.probabilities).reduce((total, part) => total + part, 0);
  expect(sum).toBeCloseTo(1, 9);
});
