import { expect, test, vi } from "vitest";
import { createEvaluator } from "./create-evaluator.ts";
import type { EvaluatorOptions } from "./evaluator-options.ts";
import { emailRequest, gatewayBody } from "./testing/email-evaluation.ts";
import { transportFromEnvironment } from "./transport-from-environment.ts";

test.each<[string, Pick<EvaluatorOptions, "env">, string, string]>([
  ["no gateway key", { env: {} }, "apiKey", "AI_GATEWAY_API_KEY"],
  ["a blank gateway key", { env: { AI_GATEWAY_API_KEY: " " } }, "apiKey", "AI_GATEWAY_API_KEY"],
  [
    "a key with a line break",
    { env: { AI_GATEWAY_API_KEY: "a\nb" } },
    "apiKey",
    "AI_GATEWAY_API_KEY",
  ],
  [
    "no vendor key",
    { env: { EVALUATOR_TRANSPORT: "direct" } },
    "apiKey",
    "EVALUATOR_DIRECT_API_KEY",
  ],
  [
    "an unknown transport",
    { env: { EVALUATOR_TRANSPORT: "pigeon" } },
    "transport",
    "EVALUATOR_TRANSPORT",
  ],
  [
    "a base URL that is none",
    { env: { AI_GATEWAY_API_KEY: "k", EVALUATOR_BASE_URL: "localhost:1" } },
    "baseUrl",
    "EVALUATOR_BASE_URL",
  ],
])(
  "with %s says at its first call which option and variable",
  async (_, options, option, environmentVariable) => {
    // A module can make one before its key is known, as a build of Next.js does.
    await using evaluator = createEvaluator(options);
    const error = expect.objectContaining({
      name: "ConfigurationError",
      option,
      environmentVariable,
    });
    await expect(evaluator.evaluate(emailRequest)).rejects.toEqual(error);
    expect(() => evaluator.evaluateMany([emailRequest])).toThrow(error);
    expect(() => transportFromEnvironment(options.env)).toThrow(error);
  },
);

test("reads the environment at its first call, and then no more", async () => {
  const env: Record<string, string> = {};
  const evaluator = createEvaluator({ env });
  await expect(evaluator.evaluate(emailRequest)).rejects.toThrow("No apiKey");
  const urls: string[] = [];
  vi.stubGlobal("fetch", async (url: string) => {
    urls.push(url);
    return Response.json(gatewayBody);
  });
  Object.assign(env, { AI_GATEWAY_API_KEY: "k", EVALUATOR_BASE_URL: "https://one.example/v4/ai" });
  await evaluator.evaluate(emailRequest);
  Object.assign(env, { AI_GATEWAY_API_KEY: "", EVALUATOR_BASE_URL: "nowhere" });
  await evaluator.evaluate(emailRequest);
  vi.unstubAllGlobals();
  expect(urls.map((url) => new URL(url).host)).toEqual(["one.example", "one.example"]);
});
