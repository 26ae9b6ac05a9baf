import { expect, test } from "vitest";
import type { EmulatorOptions } from "../create-emulator.ts";
import { post } from "../testing/requests.ts";
import {
  ask,
  emulatorWith,
  instructions,
  type ServiceName,
  services,
  state,
} from "../testing/service-requests.ts";

test("OpenAI's answers are a list in the order of the questions", async () => {
  const { status, headers, json } = await ask("openai");
  expect(status).toBe(200);
  expect(headers.get("x-evaluator-emulator")).toBe("basis=rule");
  expect(headers.get("x-request-id")).toHaveLength(26);
  expect(json).toEqual({
    model: "local/rules-1",
    answers: [
      { name: "scam", type: "predicate", probability: 0.875 },
      {
        name: "kind",
        type: "choice",
        choice: "prize",
        probabilities: [
          { value: "prize", probability: 0.625 },
          { value: "other", probability: 0.375 },
        ],
        confidence: expect.closeTo(0.0456, 3),
      },
      {
        name: "level",
        type: "score",
        score: 0.8125,
        probabilities: [
          { value: 0, label: "fine", probability: 0.1875 },
          { value: 1, label: "fraud", probability: 0.8125 },
        ],
        confidence: expect.closeTo(0.3037, 3),
      },
    ],
    usage: {
      input_tokens: 54,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 59,
    },
  });
});

test("Google's answers name no model, and their confidence is the greatest probability", async () => {
  const { json } = await ask("gemini");
  expect(json).toEqual({
    answers: {
      scam: { type: "noul", noul: 0.875, confidence: 0.875 },
      kind: {
        type: "choice",
        choice: "prize",
        probabilities: { prize: 0.625, other: 0.375 },
        confidence: 0.625,
      },
      level: {
        type: "score",
        score: 0.8125,
        probabilities: { "0": 0.1875, "1": 0.8125 },
        legend: { "0": "fine", "1": "fraud" },
        confidence: 0.8125,
      },
    },
    usage: { total_input_tokens: 55, total_output_tokens: 5, total_tokens: 60 },
  });
  const [never] = [{ answers: { scam: 0 } }];
  expect((await ask("gemini", { rules: [never] })).json).toMatchObject({
    answers: { scam: { noul: 0.01, confidence: 0.99 } },
  });
});

test("OpenRouter bills the account and reports the cost in dollars", async () => {
  const emulator = emulatorWith({ keys: [{ key: "k", balanceUsd: 0.000_003 }] });
  const headers = { authorization: "Bearer k" };
  const { path, body } = services.openrouter;
  const { json } = await post(emulator, path, { headers, body });
  expect(json).toMatchObject({
    id: expect.stringMatching(/^gen-/),
    provider: "Emulator",
    model: "local/rules-1",
    answers: { scam: { type: "noul", noul: 0.88 } },
    usage: { input_tokens: 55, output_tokens: 5, cost: 55 * 4.2e-8 },
  });
  const broke = await post(emulator, path, { headers, body });
  expect(broke.status).toBe(200);
  expect(await post(emulator, path, { headers, body })).toMatchObject({
    status: 402,
    json: { error: { code: 402, message: "Insufficient credits." } },
  });
});

test("OpenRouter has the vendor's route too, with its bare model names", async () => {
  const body = { ...services.openrouter.body, model: "jev-latest" };
  for (const path of ["/systemone", "/api/v1/systemone"]) {
    const { json } = await post(emulatorWith(), path, { body });
    expect(json).toMatchObject({ id: expect.stringMatching(/^gen-/), answers: { scam: {} } });
  }
});

test("OpenRouter rounds the vendor's models only", async () => {
  const { json } = await ask("openrouter", {}, { model: "openai/gpt-6-luna-decisions" });
  expect(json).toMatchObject({ answers: { scam: { noul: 0.875 } } });
});

test("Perplexity shares OpenAI's path, and the body tells them apart", async () => {
  const { json } = await ask("perplexity");
  expect(json).toMatchObject({
    answers: { scam: { noul: 0.875 }, level: { legend: { "0": "fine" } } },
    usage: { input_tokens: 55, output_tokens: 5 },
  });
});

test("Cloudflare wraps its answer and prints four decimals", async () => {
  const { headers, json } = await ask("cloudflare", { rules: [{ answers: { scam: 1 / 3 } }] });
  expect(headers.get("cf-ray")).toHaveLength(26);
  expect(json).toMatchObject({
    result: { model: "local/rules-1", answers: { scam: { noul: 0.3333 } } },
    success: true,
    errors: [],
    messages: [],
  });
});

test("Fireworks has both forms", async () => {
  expect((await ask("fireworks")).json).toMatchObject({ answers: { scam: { noul: 0.875 } } });
  expect((await ask("fireworks, other route")).json).toMatchObject({
    answers: [{ name: "scam", probability: 0.875 }, {}, {}],
  });
});

test.each([
  ["vercel", 0.88],
  ["liquid", 0.875],
] as const)("%s has the vendor's form below its own base URL", async (name, noul) => {
  const { status, json } = await ask(name);
  expect(status).toBe(200);
  expect(json).toMatchObject({ answers: { scam: { noul }, level: { legend: { "0": "fine" } } } });
  expect((await ask(name, {}, { model: "nobody's" })).status).toBe(404);
});

test("a recorded answer is for services that print no more decimals than it has", async () => {
  const { path, body } = services.openrouter;
  const recorded = await post(emulatorWith(), path, { body });
  const exchange = {
    name: "one",
    request: { method: "POST", path: "/v1/systemone", headers: {}, body },
    response: { status: 200, headers: {}, body: recorded.json },
  };
  const basisOf = async (name: ServiceName, options: EmulatorOptions) =>
    (await ask(name, { ...options, exchanges: [exchange] })).headers.get("x-evaluator-emulator");
  expect(await basisOf("openrouter", {})).toBe("basis=recorded");
  expect(await basisOf("perplexity", {})).toBe("basis=rule");
  expect(await basisOf("perplexity", { decimals: 2 })).toBe("basis=recorded");
});

test("OpenAI's values are typed, names may be missing, and numbers keep their order", async () => {
  const values = ["10", "2", true, "true", false];
  const choices = values.map((value) => ({ value }));
  const { json } = await ask(
    "openai",
    {},
    { questions: [{ type: "choice", instructions, choices }] },
  );
  expect(json).toMatchObject({ answers: [{ name: null }] });
  type Shares = { value: unknown; probability: number }[];
  const { answers } = json as { answers: [{ probabilities: Shares }] };
  const [{ probabilities }] = answers;
  expect(probabilities.map(({ value }) => value)).toEqual(values);
  expect(probabilities.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1);
});

test("OpenAI's input may be messages, tool calls and JSON, and instructions have parts", async () => {
  const input = [
    { role: "developer", content: "Judge this." },
    { role: "user", content: [{ type: "input_json", data: { subject: "You have won" } }] },
    { type: "function_call", call_id: "1", name: "read", arguments: "{}" },
    { type: "function_call_output", call_id: "1", output: "the lottery" },
    { type: "function_call_output", call_id: "2", output: "" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hm." }] },
    { role: "assistant", content: [{ type: "refusal", refusal: "I cannot." }] },
  ];
  const parts = [{ type: "input_text", text: instructions }];
  const asked = [{ type: "predicate", name: "scam", instructions: parts }];
  const matching = [{ match: "the lottery", answers: { "What is it?": 0.7 } }];
  const { json } = await ask("openai", { rules: matching }, { input, questions: asked });
  expect(json).toMatchObject({ answers: [{ probability: 0.7 }] });
});

const png = "iVBORw0KGgo=";
const url = `data:image/png;base64,${png}`;
test.each([
  ["openai", { input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] }],
  ["gemini", { input: [{ type: "image", data: png, mime_type: "image/png" }] }],
  ["perplexity", { state: [state, { type: "image_url", image_url: { url } }] }],
  ["cloudflare", { images: [url] }],
] as const)("%s counts an image", async (name, fields) => {
  const { status, json } = await ask(name, {}, fields);
  expect(status).toBe(200);
  expect(Number(/input_tokens":(\d+)/.exec(JSON.stringify(json))?.[1])).toBeGreaterThan(200);
});

test("a chat server has its own decisions or none", async () => {
  const { path, body } = services.openai;
  const own = await post(emulatorWith({ engine: "vllm" }), path, { body: { ...body, model: "m" } });
  expect(own).toMatchObject({ status: 200, json: { model: "local/lexical-1" } });
  expect((await post(emulatorWith({ engine: "ollama" }), path, { body })).status).toBe(404);
});
