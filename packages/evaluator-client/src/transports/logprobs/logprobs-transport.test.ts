import { expect, test } from "vitest";
import { estimateCost, mostCostUsd } from "../../catalog/estimate-cost.ts";
import { estimateTextTokens } from "../../questions/text-tokens.ts";
import { createEvaluator } from "../../create-evaluator.ts";
import { type Questions, boolean, choice, score } from "../../questions/kinds.ts";
import {
  byNumber,
  evaluatorOver,
  manyOptions,
  ownServer,
  playChat,
} from "../../testing/played-chat.ts";
import { logprobsTransport, type LogprobsTransportOptions } from "./logprobs-transport.ts";

const state = { from: "a@example.com", subject: "Your invoice" };

const threeQuestions = {
  category: choice("Which?", { o0: "a", o2: "b" }),
  importance: score("How much?", ["0 none", "1 some"]),
  scam: boolean("Is it?"),
};

test("answers every type of question with full precision, and reports how each was read", async () => {
  const { fetch } = playChat((_, option) =>
    option === "yes" ? 1 : option === "no" ? 3 : byNumber("", option),
  );
  const evaluation = await evaluatorOver(fetch).evaluate({ state, questions: threeQuestions });
  expect(evaluation.answers.category.choice).toBe("o2");
  expect(evaluation.answers.category.probabilities.o2).toBeCloseTo(0.75, 12);
  expect(evaluation.answers.importance.score).toBeCloseTo(2 / 3, 12);
  expect(evaluation.answers.scam.probability).toBeCloseTo(0.25, 12);
  expect(evaluation).toMatchObject({
    rounding: { probabilityDecimals: 15, scoreDecimals: 15 },
    confidence: { category: null, importance: null },
    usage: { inputTokens: 600, outputTokens: 6 },
    costUsd: null,
    modelId: "a-model-1",
    requestId: "chatcmpl-1",
    raw: Array.from({ length: 6 }, () => expect.objectContaining({ id: "chatcmpl-1" })),
    providerMetadata: {
      logprobs: {
        category: {
          labelMass: expect.closeTo(0.98, 9),
          truncated: false,
          debias: "balanced",
          flips: false,
          unresolvedMass: 0,
          promptFormat: "logprobs-1",
          calls: 2,
        },
        importance: { debias: "balanced", calls: 2 },
        scam: { debias: "balanced", calls: 2 },
      },
    },
  });
});

test("a question named as the confidence map is no confidence", async () => {
  const questions = {
    confidence: choice("Which?", { o1: "a" }),
    calls: choice("Or?", { o1: "a" }),
  };
  const { confidence } = await evaluatorOver(playChat(byNumber).fetch).evaluate({
    state,
    questions,
  });
  expect(confidence).toEqual({ confidence: null, calls: null });
});

test("a model that likes a label is taken at its word raw, and not when balanced", async () => {
  const { fetch } = playChat(() => 1, { likes: { A: 9 } });
  const questions = { which: choice("Which?", { first: "x", second: "y" }) };
  const raw = await evaluatorOver(fetch, { debias: "raw" }).evaluate({ state, questions });
  const balanced = await evaluatorOver(fetch).evaluate({ state, questions });
  expect(raw.answers.which.probabilities.first).toBeCloseTo(0.9, 12);
  expect(balanced.answers.which.probabilities.first).toBeCloseTo(0.5, 12);
  expect(balanced.providerMetadata).toMatchObject({ logprobs: { which: { flips: true } } });
});

test("the price of the model makes the cost of all calls", async () => {
  const price = { inputUsdPerMillionTokens: 2, outputUsdPerMillionTokens: 8 };
  const questions = { scam: boolean("Is it?") };
  const { costUsd } = await evaluatorOver(playChat(() => 1).fetch, { price }).evaluate({
    state,
    questions,
  });
  expect(costUsd).toBeCloseTo((200 * 2 + 2 * 8) / 1e6, 15);
});

test("the estimate knows the calls that are then made, and about their tokens", async () => {
  const { fetch, calls } = playChat(byNumber);
  const transport = logprobsTransport({ ...ownServer, fetch, server: "openai" });
  const questions = { ...threeQuestions, five: choice("Which?", manyOptions(5)) };
  const price = { inputUsdPerMillionTokens: 1 };
  const estimated = estimateCost([{ state, questions }], { ...price, transport });
  expect(estimated).toMatchObject({ requests: 1, calls: 2 + 2 + 2 + 5 });
  expect(estimateCost([{ state, questions }], price)).toMatchObject({ requests: 1, calls: 1 });
  await createEvaluator({ transport }).evaluate({ state, questions });
  expect(calls).toHaveLength(estimated.calls);
  const sumOf = (count: (text: string) => number) =>
    calls.reduce((sum, { prompt }) => sum + count(prompt), 0);
  expect(estimated.inputTokens / sumOf(estimateTextTokens)).toBeCloseTo(1, 1);
  const bytes = sumOf((prompt) => Buffer.byteLength(prompt));
  expect(mostCostUsd({ state, questions }, { ...price, transport }) * 1e6).toBeGreaterThan(bytes);
});

test.each<[LogprobsTransportOptions, string, RegExp]>([
  [{ baseUrl: "" }, "baseUrl", /EVALUATOR_LOGPROBS_BASE_URL/],
  [{ model: "" }, "model", /EVALUATOR_MODEL_ID/],
  [{ server: "lmstudio" as never }, "server", /auto, openai, vllm, llama\.cpp, sglang, ollama/],
  [{ debias: "none" as never }, "debias", /none of raw, balanced/],
  [{ minLabelMass: 2 }, "minLabelMass", /0 to 1/],
  [{ minLabelMass: Number.NaN }, "minLabelMass", /0 to 1/],
  [{ concurrency: 0 }, "concurrency", /from 1 up/],
  [{ concurrency: 1.5 }, "concurrency", /from 1 up/],
])("rejects the option %o", (options, option, message) => {
  expect(() => logprobsTransport({ ...ownServer, ...options })).toThrow(
    expect.objectContaining({
      name: "ConfigurationError",
      option,
      message: expect.stringMatching(message),
    }),
  );
});

test("takes address, key and model from the environment, as the programs do", async () => {
  const headers: unknown[] = [];
  const env = {
    EVALUATOR_TRANSPORT: "logprobs",
    EVALUATOR_LOGPROBS_BASE_URL: "http://127.0.0.1:11434/v1/",
    EVALUATOR_LOGPROBS_API_KEY: "a-key",
    EVALUATOR_MODEL_ID: "qwen3:4b",
  };
  const { fetch } = playChat(byNumber);
  const transport = logprobsTransport({
    env,
    async fetch(url, init) {
      headers.push({ url, ...(init.headers as Record<string, string>) });
      return fetch(url, init);
    },
  });
  expect(transport).toMatchObject({
    name: "logprobs",
    target: { url: "http://127.0.0.1:11434", modelId: "qwen3:4b", format: "logprobs-1 balanced" },
  });
  await createEvaluator({ transport }).evaluate({ state, questions: { scam: boolean("?") } });
  expect(headers.at(-1)).toEqual({
    url: "http://127.0.0.1:11434/v1/chat/completions",
    Authorization: "Bearer a-key",
    "Content-Type": "application/json",
  });
  expect(() => createEvaluator({ env })).not.toThrow();
});

test.each<[Questions, RegExp]>([
  [
    { q: choice("Which?", manyOptions(256)) },
    /has 256 options; logprobsTransport labels at most 255/,
  ],
  [{ q: score("How?", Object.keys(manyOptions(11))) }, /has 11 levels; .* at most 10/],
])("sends nothing for a question it has no labels for", async (questions, message) => {
  const fetch = async () => expect.unreachable("nothing may be sent");
  const transport = logprobsTransport({ ...ownServer, fetch });
  const questionLimits = { maxOptions: 999, maxLevels: 99 };
  await expect(
    createEvaluator({ transport, questionLimits }).evaluate({ state, questions }),
  ).rejects.toMatchObject({
    name: "InvalidRequestError",
    questionId: "q",
    message: expect.stringMatching(message),
  });
});
