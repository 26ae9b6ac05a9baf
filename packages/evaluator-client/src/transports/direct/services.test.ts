import { expect, test } from "vitest";
import { createEvaluator } from "../../create-evaluator.ts";
import { budget } from "../../middleware/budget.ts";
import { boolean } from "../../questions/kinds.ts";
import { answers, askService, ofWire, questions, replyOf } from "../../testing/ask-service.ts";
import { serviceFixtures } from "../../testing/service-fixtures.ts";
import { onePixel } from "../../testing/one-pixel.ts";
import { directTransport } from "./direct-transport.ts";
import { type ServiceName, serviceRows, services } from "./services.ts";

test.each(services)("%s answers at its address, by its own rounding and price", async (service) => {
  const fixture = serviceFixtures[service];
  const { url, keyHeader = "authorization", costUsd, decimals = 15, definesConfidence } = fixture;
  const { sent, evaluation, error } = await askService(service, {});
  expect(error).toBeNull();
  expect(sent[0]?.url).toBe(url);
  expect(sent[0]?.headers.get(keyHeader)).toContain("a-secret-key");
  expect(evaluation).toMatchObject({
    answers: {
      kind: { choice: "receipt", probabilities: { receipt: 0.75, other: 0.25 } },
      level: { score: 0.5 },
      scam: { type: "boolean", probability: 0.25 },
    },
    rounding: { probabilityDecimals: decimals },
    confidence: { kind: definesConfidence ? 0.6 : null, level: null },
    transport: service,
    usage: { inputTokens: 1000, outputTokens: 0 },
  });
  expect(evaluation?.costUsd).toBe(costUsd);
  expect(JSON.stringify(evaluation?.providerMetadata)).toContain("0.6");
});

test.each(services)("a budget counts %s from its first call", async (service) => {
  const own = { apiKey: "a-secret-key", accountId: "an-account", env: {} };
  const model = serviceRows[service].model ?? "a-model";
  const asked: string[] = [];
  const fetch = async (url: string) => {
    asked.push(url);
    return Response.json(replyOf(service));
  };
  const transport = directTransport({ ...own, service, model, fetch });
  const evaluator = createEvaluator({ transport }).with(budget({ maxCostUsd: 1e-9 }));
  const failures: unknown[] = [];
  for (const state of ["one", "two"])
    await evaluator.evaluate({ state, questions }).catch((error) => failures.push(error));
  // A price that no one knows beforehand is learned from an answer, or the budget says what it needs.
  const isPriced = serviceRows[service].prices !== undefined;
  expect([asked.length, failures.length]).toEqual(isPriced ? [0, 2] : [1, 1]);
  const message = isPriced ? "might exceed the budget" : "Set usdPerMillionTokens, or maxTokens";
  expect(String(failures.at(-1))).toContain(message);
});

test("one address without a path serves all, and the tests cover every row", async () => {
  for (const service of services) {
    const { sent } = await askService(service, {}, { baseUrl: "http://127.0.0.1:9" });
    const { baseUrl, path } = serviceRows[service];
    const wanted = `${new URL(baseUrl).pathname.replace(/^\/$/, "")}${path}`;
    const filled = decodeURI(wanted).replace("{account}", "an-account");
    expect(sent[0]?.url).toBe(`http://127.0.0.1:9${filled.replace("{model}", "clef-flash")}`);
  }
});

test("a server has its own path", async () => {
  const fetch = async (url: string) => {
    expect(url).toBe("https://api.example.com/v3/compat/v1/systemone");
    return Response.json(ofWire.systemone);
  };
  const own = { baseUrl: "https://api.example.com", path: "/v3/compat/v1/systemone" };
  const transport = directTransport({ ...own, apiKey: null, model: "m", env: {}, fetch });
  await createEvaluator({ transport }).evaluate({ state: "text", questions });
});

test.each<[string, ServiceName, object]>([
  ["no usage", "perplexity", { usage: undefined }],
  ["no usage", "openai", { usage: undefined }],
  ["no usage", "gemini", { usage: undefined }],
])("an answer with %s of %s is kept, and costs what is unknown", async (_, service, fields) => {
  const { evaluation } = await askService(service, { body: replyOf(service, fields) });
  expect(evaluation).toMatchObject({ usage: null, costUsd: null });
});

test("a sum of four decimals is refused where none are rounded, and taken at Cloudflare", async () => {
  const probabilities = { receipt: 0.6666, other: 0.3332 };
  const off = { ...answers, kind: { ...answers.kind, probabilities } };
  const cut = { answers: off };
  const rounded = { receipt: 0.6667, other: 0.3334 };
  const taken = { answers: { ...answers, kind: { ...answers.kind, probabilities: rounded } } };
  expect((await askService("cloudflare", { body: replyOf("cloudflare", taken) })).error).toBeNull();
  const { error } = await askService("perplexity", { body: replyOf("perplexity", cut) });
  expect(error).toMatchObject({ rule: "probabilities-sum", questionId: "kind" });
  const slight = { receipt: 0.66665, other: 0.33332 };
  const near = { answers: { ...answers, kind: { ...answers.kind, probabilities: slight } } };
  expect((await askService("perplexity", { body: replyOf("perplexity", near) })).error).toBeNull();
});

test("at OpenRouter rounding and confidence are those of the model", async () => {
  const model = "perplexity/pplx-decider-v1.3";
  const { evaluation } = await askService("openrouter", {}, { model });
  expect(evaluation?.rounding).toMatchObject({ probabilityDecimals: 15 });
  expect(evaluation?.confidence).toEqual({ kind: null, level: null });
  const alias = await askService("openrouter", {}, { model: "~typesafe/jev-latest" });
  expect(alias.evaluation?.confidence).toMatchObject({ kind: 0.6 });
});

test("Cloudflare gets plain ids, and answers come back under the caller's", async () => {
  const asked = { "is it a scam?": boolean("Is it?"), __proto__x: boolean("And this?") };
  const given = { question_1: { type: "noul", noul: 0.25 }, question_2: { type: "noul", noul: 1 } };
  const body = replyOf("cloudflare", { answers: given });
  const { sent, evaluation } = await askService("cloudflare", { body }, { asked });
  expect(
    Object.keys((sent[0]?.body as { questions: object } | undefined)?.questions ?? {}),
  ).toEqual(["question_1", "question_2"]);
  expect(evaluation?.answers).toMatchObject({
    "is it a scam?": { probability: 0.25 },
    __proto__x: { probability: 1 },
  });
});

test("request ids are in each service's header, else in the body", async () => {
  const idOf = async (service: ServiceName, headers: Record<string, string>) =>
    (await askService(service, { headers })).evaluation?.requestId;
  expect(await idOf("cloudflare", { "cf-ray": "ray", "cf-ai-req-id": "ai" })).toBe("ai");
  expect(await idOf("cloudflare", { "cf-ray": "ray" })).toBe("ray");
  expect(await idOf("openai", { "x-request-id": "r" })).toBe("r");
  expect(await idOf("openai", { "x-request-id": "r", "cf-ray": "ray" })).toBe("r");
  expect(await idOf("openai", { "cf-ray": "ray" })).toBe("ray");
  expect(await idOf("openrouter", { "cf-ray": "ray" })).toBe("gen-1");
});

test("Google's blocked input is a refusal of every question", async () => {
  const body = { prompt_feedback: { block_reason: "SAFETY", block_reason_message: "text" } };
  const { error } = await askService("gemini", { body });
  expect(error).toMatchObject({
    name: "RefusalError",
    isRetryable: false,
    questionIds: ["kind", "level", "scam"],
  });
  expect(error?.message).toContain("(SAFETY)");
});

test.each<[ServiceName, object]>([
  [
    "openai",
    { answers: [...ofWire.decisions.answers.slice(0, 2), { type: "refusal", name: "scam" }] },
  ],
  ["openrouter", { answers: { ...answers, scam: { type: "of the future" } } }],
])("a refusal of %s loses no paid answer", async (service, fields) => {
  const { error } = await askService(service, { body: replyOf(service, fields) });
  expect(error).toMatchObject({
    name: "RefusalError",
    questionIds: ["scam"],
    answers: { kind: { choice: "receipt" }, level: { score: 0.5 } },
    usage: { inputTokens: 1000 },
    costUsd: { openai: 0.0001, openrouter: 0.00005 }[service as string],
  });
  expect(error).not.toHaveProperty("answers.scam");
});

test("a false answer beside a refusal is still refused", async () => {
  const kind = { ...answers.kind, probabilities: { receipt: 0.75, other: 0.75 } };
  const fields = { answers: { ...answers, kind, scam: { type: "of the future" } } };
  const { error } = await askService("openrouter", { body: replyOf("openrouter", fields) });
  expect(error).toMatchObject({ rule: "probabilities-sum", questionId: "kind" });
});

test.each<[ServiceName, object, object]>([
  [
    "openai",
    { input_tokens: 1000, output_tokens: 0, input_tokens_details: { cached_tokens: 900 } },
    { inputTokens: 1000, cachedInputTokens: 900, outputTokens: 0 },
  ],
  [
    "gemini",
    { total_input_tokens: 1000, total_cached_tokens: 900 },
    { inputTokens: 1000, cachedInputTokens: 900, outputTokens: 0 },
  ],
])(
  "cached tokens of %s are reported, and cost as much as others",
  async (service, given, usage) => {
    const { evaluation } = await askService(service, { body: replyOf(service, { usage: given }) });
    expect(evaluation).toMatchObject({ usage, costUsd: 0.0001 });
  },
);

test("a count of no tokens is unknown: it is no price, and no cut state", async () => {
  const fields = { usage: { input_tokens: 0, output_tokens: 0 } };
  const state = "a long letter ".repeat(100);
  const body = replyOf("perplexity", fields);
  const { evaluation } = await askService("perplexity", { body }, { state });
  expect(evaluation).toMatchObject({ usage: null, costUsd: null, warnings: [] });
});

const base64 = onePixel.toString("base64");
const png = { image: `data:image/png;base64,${base64}` };

test.each<[ServiceName, object]>([
  [
    "openai",
    {
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "a photo" },
            { type: "input_image", image_url: png.image },
          ],
        },
      ],
    },
  ],
  [
    "gemini",
    {
      input: [
        { type: "text", text: "a photo" },
        { type: "image", mime_type: "image/png", data: base64 },
      ],
    },
  ],
  ["cloudflare", { state: ["a photo", "[image-1]"], images: [png.image] }],
  ["perplexity", { state: ["a photo", { type: "image_url", image_url: { url: png.image } }] }],
])("an image reaches %s in its form", async (service, body) => {
  const { sent, error } = await askService(service, {}, { state: ["a photo", png] });
  expect(error).toBeNull();
  expect(sent[0]?.body).toMatchObject(body);
});

test("an image of more tiles than Perplexity takes is refused before it is sent", async () => {
  const wide = Buffer.from(onePixel);
  wide.writeUInt32BE(32 * 2048 + 1, 16);
  const state = ["a photo", { image: `data:image/png;base64,${wide.toString("base64")}` }];
  const { sent, error } = await askService("perplexity", {}, { state });
  expect(sent).toEqual([]);
  expect(error?.message).toBe(
    'The state at "state.1" is an image of 65537 × 1 pixels, which are 2049 tiles of 32 × 32; this wire takes at most 2048.',
  );
  expect((await askService("cloudflare", {}, { state })).error).toBeNull();
});
