import OpenAI from "openai";
import { afterAll, beforeEach, expect, test } from "vitest";
import { ask, emulator, fault, instructions, origin } from "./decision-clients.ts";

beforeEach(() => emulator.reset());
afterAll(() => emulator.close());

const gatewayAnswer = {
  answers: {
    scam: { type: "boolean", probability: 0.88 },
    kind: { type: "choice", choice: "prize", probabilities: { prize: 0.63, other: 0.38 } },
    level: { type: "score", score: 0.81, probabilities: { "0": 0.19, "1": 0.81 } },
  },
  rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
  providerMetadata: { typesafe: { confidence: { kind: 0.05 } } },
};

test.each([
  [
    "@typesafe-ai/sdk",
    {
      model: "local/rules-1",
      answers: {
        scam: { type: "noul", noul: 0.88 },
        kind: { choice: "prize", probabilities: { prize: 0.63, other: 0.38 }, confidence: 0.05 },
        level: { score: 0.81, legend: { "0": "fine", "1": "fraud" } },
      },
    },
  ],
  [
    "openai",
    {
      answers: [
        { name: "scam", type: "predicate", probability: 0.875 },
        {
          name: "kind",
          choice: "prize",
          probabilities: [
            { value: "prize", probability: 0.625 },
            { value: "other", probability: 0.375 },
          ],
        },
        {
          name: "level",
          score: 0.8125,
          probabilities: [
            { value: 0, label: "fine", probability: 0.1875 },
            { value: 1, label: "fraud", probability: 0.8125 },
          ],
        },
      ],
      usage: { input_tokens_details: { cached_tokens: 0 } },
    },
  ],
  [
    "@google/genai",
    {
      answers: {
        scam: { type: "noul", noul: 0.875, confidence: 0.875 },
        kind: { choice: "prize", confidence: 0.625 },
        level: { score: 0.8125, legend: { "0": "fine" }, confidence: 0.8125 },
      },
    },
  ],
  [
    "@openrouter/sdk, decisions",
    {
      provider: "Emulator",
      answers: {
        scam: { type: "noul", noul: 0.88 },
        kind: { type: "choice", choice: "prize" },
        level: { type: "score", legend: { "1": "fraud" } },
      },
      usage: { cost: 55 * 4.2e-8, inputTokens: 55 },
    },
  ],
  ["@ai-sdk/gateway, evaluation", gatewayAnswer],
  ["@ai-sdk/gateway, decision", gatewayAnswer],
  ["@openrouter/sdk, systemOne", { answers: { scam: { noul: 0.88 } }, usage: { inputTokens: 55 } }],
] as const)("%s reads an answer of each kind", async (name, answer) => {
  expect(await ask[name]("right-key")).toMatchObject(answer);
});

test("a refusal is an answer for OpenAI, a block for Google and an unknown kind for OpenRouter", async () => {
  await fault({ kind: "first-refusal" });
  expect(await ask.openai("right-key")).toMatchObject({
    answers: [{ type: "refusal", name: "scam" }, { choice: "prize" }, { score: 0.8125 }],
  });
  const blocked = await ask["@google/genai"]("right-key");
  expect(blocked.prompt_feedback).toMatchObject({ block_reason: "safety" });
  expect(blocked.answers).toBeUndefined();
  expect(await ask["@openrouter/sdk, decisions"]("right-key")).toMatchObject({
    answers: { scam: { type: "UNKNOWN", isUnknown: true }, kind: { choice: "prize" } },
  });
});

test("OpenAI's client sends typed values, JSON and an image, and gets them back", async () => {
  const client = new OpenAI({ apiKey: "right-key", baseURL: `${origin}/v1` });
  const image_url = "data:image/png;base64,iVBORw0KGgo=";
  const { answers, usage } = await client.decisions.create({
    model: "gpt-6-luna",
    input: [
      {
        role: "user",
        content: [
          { type: "input_json", data: { subject: "Your receipt" } },
          { type: "input_image", image_url },
        ],
      },
    ],
    questions: [
      {
        type: "choice",
        instructions,
        choices: [{ value: true }, { value: "true" }, { value: "2" }],
      },
    ],
  });
  const [answer] = answers;
  expect(answer).toMatchObject({ name: null, type: "choice" });
  expect(answer?.type === "choice" && answer.probabilities.map(({ value }) => value)).toEqual([
    true,
    "true",
    "2",
  ]);
  expect(usage.input_tokens).toBeGreaterThan(200);
});
