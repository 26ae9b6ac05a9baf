import {
  createGateway,
  experimental_decide as decide,
  generateText,
  isStepCount,
  jsonSchema,
  Output,
  streamText,
  tool,
} from "ai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEmulator } from "../create-emulator.ts";
import { post, threeQuestions as questions } from "../testing/requests.ts";

// The `ai` package and its own gateway provider, unpatched, over HTTP.
const emulator = createEmulator({ exchanges: [], keys: ["right-key"] });
const poor = createEmulator({ exchanges: [], tier: "free" });
let gateway: ReturnType<typeof createGateway>;
let freeGateway: ReturnType<typeof createGateway>;
let wrongGateway: ReturnType<typeof createGateway>;

beforeAll(async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const { gatewayBaseUrl: baseURL } = await emulator.listen();
  gateway = createGateway({ baseURL, apiKey: "right-key" });
  wrongGateway = createGateway({ baseURL, apiKey: "wrong-key" });
  const { gatewayBaseUrl } = await poor.listen();
  freeGateway = createGateway({ baseURL: gatewayBaseUrl, apiKey: "any" });
});
afterAll(async () => {
  await emulator.close();
  await poor.close();
});

test("decide gets a validated answer to every question type", async () => {
  const state = { user_message: "hello there" };
  const result = await decide({
    model: gateway.decisionModel("typesafe-ai/jev"),
    state,
    questions,
  });
  expect(result.answers.tier.choice).toBe("nano");
  expect(result.answers.urgency.type).toBe("score");
  expect(result.answers.scam.probability).toBeGreaterThanOrEqual(0.2);
  expect(result.rounding).toEqual({ probabilityDecimals: 2, scoreDecimals: 2 });
  expect(result.usage.inputTokens).toBeGreaterThan(0);
  expect(result.response.modelId).toBe("local/lexical-1");
  expect(result.providerMetadata?.["typesafe"]).toHaveProperty("confidence.tier");
});

test("decide sends an image, which is counted and not looked at", async () => {
  const ask = (...more: { type: "file"; mediaType: string; data: Uint8Array }[]) =>
    decide({
      model: gateway.decisionModel("typesafe-ai/jev"),
      state: [{ type: "text", text: "hello there" }, ...more],
      questions,
    });
  const [withImage, without] = await Promise.all([
    ask({ type: "file", mediaType: "image/png", data: Buffer.from("\x89PNG\r\n\x1a\n", "latin1") }),
    ask(),
  ]);
  expect(withImage.answers).toEqual(without.answers);
  expect(withImage.usage.inputTokens).toBe((without.usage.inputTokens ?? 0) + 200);
  const pdf = ask({ type: "file", mediaType: "application/pdf", data: Buffer.from("%PDF") });
  await expect(pdf).rejects.toThrow(/expected an image; this model reads no other file/);
});

test("decide accepts 255 equal options, text, and several state parts", async () => {
  const names = Array.from({ length: 255 }, (_, index) => [`option ${index}`, null]);
  const { answers } = await decide({
    model: gateway.decisionModel("typesafe-ai/jev"),
    state: [
      { type: "text", text: "qwertz" },
      { type: "json", value: { a: [true, null] } },
    ],
    questions: { pick: { type: "choice", criteria: Object.fromEntries(names) } },
  });
  expect(answers.pick).toMatchObject({ choice: "option 0" });
});

test("generateText gets a reply that says where it comes from", async () => {
  const model = gateway("openai/gpt-5-nano");
  const { text, usage, finishReason } = await generateText({ model, prompt: "Why is it so?" });
  expect(text).toContain("local emulator");
  expect(text).toContain("Why is it so?");
  expect(finishReason).toBe("stop");
  expect(usage.inputTokens).toBeGreaterThan(0);
  expect(usage.outputTokens).toBeGreaterThan(0);
});

test("streamText gets the same reply word by word", async () => {
  const model = gateway("openai/gpt-5-nano");
  const result = streamText({ model, prompt: "Why is it so?" });
  const words: string[] = [];
  for await (const word of result.textStream) words.push(word);
  expect(words.length).toBeGreaterThan(5);
  expect(words.join("")).toBe((await generateText({ model, prompt: "Why is it so?" })).text);
  expect(await result.finishReason).toBe("stop");
  expect((await result.usage).outputTokens).toBeGreaterThan(0);
  expect((await result.response).modelId).toBe("local/echo-1");
});

const clock = tool({
  description: "The time at a place",
  inputSchema: jsonSchema<{ place: string }>({
    type: "object",
    properties: { place: { type: "string" } },
    required: ["place"],
  }),
  execute: async ({ place }) => `noon in ${place}`,
});

test("a tool whose words are said is called, once for each name, and its answers are repeated", async () => {
  const { steps, text } = await generateText({
    model: gateway("openai/gpt-5-nano"),
    prompt: "Which clock time is it in Oslo and Lima?",
    tools: { clock },
    stopWhen: isStepCount(3),
  });
  expect(steps[0]?.toolCalls.map(({ input }) => input)).toEqual([
    { place: "Oslo" },
    { place: "Lima" },
  ]);
  expect(text).toContain("noon in Oslo");
  expect(text).toContain("not from a language model");
});

test("a schema is filled, and streamed as text", async () => {
  const schema = jsonSchema<{ mood: string; stars: number }>({
    type: "object",
    properties: { mood: { enum: ["glad", "sad"] }, stars: { type: "integer", maximum: 5 } },
    required: ["mood", "stars"],
  });
  const { output } = await generateText({
    model: gateway("openai/gpt-5-nano"),
    prompt: "A sad film, 9 points",
    output: Output.object({ schema }),
  });
  expect(output).toEqual({ mood: "sad", stars: 5 });
});

test("models, credits and a generation can be looked up", async () => {
  const { models } = await gateway.getAvailableModels();
  expect(models.map(({ id }) => id)).toContain("typesafe-ai/jev");
  const { providerMetadata } = await generateText({
    model: gateway("anthropic/claude-fable-5.1"),
    prompt: "hi",
  });
  const id = providerMetadata?.["gateway"]?.["generationId"] as string;
  expect(await gateway.getGenerationInfo({ id })).toMatchObject({ id, isByok: false });
  const report = { startDate: "2000-01-01", endDate: "2999-12-31", groupBy: "model" } as const;
  const { results } = await gateway.getSpendReport(report);
  expect(results.find(({ model }) => model === "typesafe-ai/jev")?.requestCount).toBeGreaterThan(0);
  const { balance, totalUsed } = await gateway.getCredits();
  expect(Number(balance) + Number(totalUsed)).toBeCloseTo(20, 9);
});

test.each([
  ["a wrong key", () => wrongGateway("openai/gpt-5-nano"), "GatewayAuthenticationError"],
  ["an unknown model", () => gateway("no/model"), "GatewayModelNotFoundError"],
  ["no access", () => freeGateway("anthropic/claude-fable-5.1"), "GatewayInternalServerError"],
])("%s is the client's own error", async (_what, model, name) => {
  const call = generateText({ model: model(), prompt: "hi", maxRetries: 0 });
  await expect(call).rejects.toMatchObject({ name });
});

test("the free tier's burst ends in the client's rate limit error", async () => {
  const model = freeGateway.decisionModel("typesafe-ai/jev");
  const ask = () => decide({ model, state: "hi", questions, maxRetries: 0 });
  await ask();
  await ask();
  await ask();
  await expect(ask()).rejects.toMatchObject({ name: "GatewayRateLimitError", statusCode: 429 });
});

const faulty = createEmulator({ exchanges: [] });
const faultyGateway = createGateway({ apiKey: "any", fetch: faulty.fetch });
async function askWith(fault: object, maxRetries: number) {
  faulty.reset();
  await post(faulty, "/_emulator/faults", { body: fault });
  const model = faultyGateway.decisionModel("typesafe-ai/jev");
  return decide({ model, state: "hello", questions, maxRetries });
}

test.each([
  [{ kind: "status", status: 400 }, "GatewayInvalidRequestError"],
  [{ kind: "status", status: 401 }, "GatewayAuthenticationError"],
  [{ kind: "status", status: 403 }, "GatewayForbiddenError"],
  [{ kind: "status", status: 404 }, "GatewayNotFoundError"],
  [{ kind: "status", status: 424 }, "GatewayFailedDependencyError"],
  [{ kind: "status", status: 429 }, "GatewayRateLimitError"],
  [{ kind: "status", status: 500 }, "GatewayInternalServerError"],
  [{ kind: "html" }, "GatewayResponseError"],
])("%j is %s", async (fault, name) => {
  await expect(askWith(fault, 0)).rejects.toMatchObject({ name });
});

test("one 429 and then an answer is a success; more than the retries is one error", async () => {
  const fault = { kind: "status", status: 429, retryAfter: 0 };
  expect((await askWith({ ...fault, next: 1 }, 2)).answers.tier.choice).toBe("nano");
  await expect(askWith(fault, 2)).rejects.toMatchObject({
    name: "AI_RetryError",
    message: expect.stringContaining("after 3 attempts"),
  });
});

test.each(["wrong-sums", "missing-answer", "malformed-json", "cut-body"])(
  "the client notices %s",
  async (kind) => {
    await expect(askWith({ kind }, 0)).rejects.toThrow(Error);
  },
);

test("a refusal is the client's own error", async () => {
  const name = "AI_DecisionRefusalError";
  await expect(askWith({ kind: "refusal" }, 0)).rejects.toMatchObject({ name });
});

test("a stream that breaks off is an error, not an end", async () => {
  faulty.reset();
  await post(faulty, "/_emulator/faults", { body: { kind: "cut-body" } });
  const model = faultyGateway("openai/gpt-5-nano");
  const { fullStream } = streamText({ model, prompt: "Why?", maxRetries: 0, onError: () => {} });
  const read = async () => {
    const parts: string[] = [];
    for await (const { type } of fullStream) parts.push(type);
    return parts;
  };
  await expect(read()).rejects.toThrow(Error);
});
