import {
  createGateway,
  experimental_evaluate as evaluate,
  generateText,
  streamText,
} from "ai-contract";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createEmulator } from "evaluator-emulator";
import { post, threeQuestions as questions } from "evaluator-emulator/testing";

// The generation of the `ai` package that the contract describes, unpatched, over HTTP.
const emulator = createEmulator({ exchanges: [], tier: "free", keys: ["right-key"] });
let baseURL: string;
let gateway: ReturnType<typeof createGateway>;

beforeAll(async () => {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  ({ gatewayBaseUrl: baseURL } = await emulator.listen());
  gateway = createGateway({ baseURL, apiKey: "right-key" });
});
beforeEach(() => emulator.reset());
afterAll(() => emulator.close());

const ask = (provider = gateway, modelId = "typesafe-ai/jev", maxRetries = 0) =>
  evaluate({
    model: provider.evaluationModel(modelId),
    state: { user_message: "hello there" },
    questions,
    maxRetries,
  });

const fault = (body: object) => post(emulator, "/_emulator/faults", { body });

test("evaluate gets a validated answer to every question type", async () => {
  const { answers, rounding, usage, providerMetadata } = await ask();
  expect(answers.tier.choice).toBe("nano");
  expect(answers.urgency.score).toBeGreaterThanOrEqual(0);
  expect(answers.scam.probability).toBeGreaterThanOrEqual(0.2);
  expect(rounding).toEqual({ probabilityDecimals: 2, scoreDecimals: 2 });
  expect(usage.inputTokens).toBeGreaterThan(0);
  expect(providerMetadata?.["typesafe"]).toHaveProperty("confidence.tier");
});

test("a plain model id resolves through the provider, and text states pass", async () => {
  const model = gateway.evaluation("typesafe-ai/jev");
  const { answers } = await evaluate({ model, state: "write code", questions });
  expect(answers.tier.choice).toBe("balanced");
});

test("after the burst come 429s, and three attempts end in one error", async () => {
  await ask();
  await ask();
  await ask();
  await expect(ask()).rejects.toMatchObject({ name: "GatewayRateLimitError", statusCode: 429 });
  await fault({ kind: "status", status: 429, retryAfter: 0 });
  await expect(ask(gateway, "typesafe-ai/jev", 2)).rejects.toMatchObject({
    name: "AI_RetryError",
    message: expect.stringContaining("after 3 attempts"),
  });
});

test("one 429 and then an answer is a success", async () => {
  await fault({ kind: "status", status: 429, retryAfter: 0, next: 1 });
  expect((await ask(gateway, "typesafe-ai/jev", 2)).answers.tier.choice).toBe("nano");
  const log = await (await emulator.fetch("/_emulator/requests")).json();
  expect(log).toMatchObject({ requests: [{ status: 429 }, { status: 200 }] });
});

test.each([
  ["a wrong key", { apiKey: "wrong-key" }, "typesafe-ai/jev", "GatewayAuthenticationError"],
  ["an unknown model", {}, "acme-ai/none", "GatewayModelNotFoundError"],
  ["a text model", {}, "openai/gpt-5-nano", "GatewayInvalidRequestError"],
])("%s is the client's own error", async (_what, settings, modelId, name) => {
  const provider = createGateway({ baseURL, apiKey: "right-key", ...settings });
  await expect(ask(provider, modelId)).rejects.toMatchObject({ name });
});

test.each([
  [{ kind: "status", status: 400 }, "GatewayInvalidRequestError"],
  [{ kind: "status", status: 403 }, "GatewayForbiddenError"],
  [{ kind: "status", status: 404 }, "GatewayNotFoundError"],
  [{ kind: "status", status: 424 }, "GatewayFailedDependencyError"],
  [{ kind: "status", status: 500 }, "GatewayInternalServerError"],
  [{ kind: "html" }, "GatewayResponseError"],
])("%j is %s", async (body, name) => {
  await fault(body);
  await expect(ask()).rejects.toMatchObject({ name });
});

test.each(["wrong-sums", "missing-answer", "refusal", "malformed-json", "cut-body", "reset"])(
  "the client notices %s",
  async (kind) => {
    await fault({ kind });
    await expect(ask()).rejects.toThrow(Error);
  },
);

test("text is generated and streamed alike", async () => {
  const model = gateway("openai/gpt-5-nano");
  const { text, usage } = await generateText({ model, prompt: "Why is it so?" });
  expect(text).toContain("Why is it so?");
  expect(usage.outputTokens).toBeGreaterThan(0);
  const streamed = streamText({ model, prompt: "Why is it so?" });
  expect(await streamed.text).toBe(text);
  expect((await streamed.usage).outputTokens).toBe(usage.outputTokens);
});
