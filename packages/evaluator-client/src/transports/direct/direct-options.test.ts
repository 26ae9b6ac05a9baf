import { expect, test } from "vitest";
import { transportFromEnvironment } from "../../transport-from-environment.ts";
import { directTransport, type DirectTransportOptions } from "./direct-transport.ts";
import { services } from "./services.ts";

test.each<[DirectTransportOptions, string]>([
  [{ service: "pigeon" as never }, 'The option "service" is none of typesafe, openai, gemini,'],
  [
    { service: "openrouter", env: {} },
    'No apiKey for OpenRouter: pass the option "apiKey" or set OPENROUTER_API_KEY.',
  ],
  [
    { service: "openai", env: { EVALUATOR_DIRECT_API_KEY: "x" } },
    "EVALUATOR_DIRECT_API_KEY is set, which is another service's.",
  ],
  [
    { service: "gemini", env: { OPENROUTER_API_KEY: "x" } },
    "set GEMINI_API_KEY or GOOGLE_API_KEY. OPENROUTER_API_KEY is set, which is another service's.",
  ],
  [
    { service: "cloudflare", env: { CLOUDFLARE_AUTH_TOKEN: "x" } },
    'No accountId for Cloudflare: pass the option "accountId" or set CLOUDFLARE_ACCOUNT_ID.',
  ],
  [
    { service: "fireworks", apiKey: "x", env: {} },
    'No model for Fireworks: pass the option "model" or set EVALUATOR_MODEL_ID.',
  ],
  [
    { model: "gpt-6-luna", apiKey: "x", env: {} },
    'is "gpt-6-luna", a model of OpenAI; set service: "openai" (EVALUATOR_TRANSPORT=openai), or baseUrl',
  ],
  [
    { service: "openai", apiKey: "x y", env: {} },
    'The option "apiKey" (OPENAI_API_KEY) has a space',
  ],
  [
    { path: "v1", apiKey: null, env: {} },
    'The option "path" does not begin with "/", or has a query or fragment;',
  ],
  [
    { service: "openai", apiKey: "x", baseUrl: "ftp://x", env: {} },
    'The option "baseUrl" is not an http or https URL',
  ],
])("rejects %j", (given, message) => {
  expect(() => directTransport(given)).toThrow(message);
});

test("the gateway and the vendor's API name the key of a service that is set, and never use it", () => {
  const ofService = { OPENROUTER_API_KEY: "a-secret", EVALUATOR_DIRECT_API_KEY: " " };
  const next = "To ask that one, set EVALUATOR_TRANSPORT=openrouter.";
  const note = `OPENROUTER_API_KEY is set, which is another service's. ${next}`;
  expect(() => transportFromEnvironment(ofService)).toThrow(
    `No apiKey: pass the option "apiKey" or set AI_GATEWAY_API_KEY. ${note}`,
  );
  expect(() => directTransport({ env: ofService })).toThrow(note);
  expect(() => directTransport({ env: { TYPESAFE_API_KEY: "x" } })).toThrow("=typesafe.");
  expect(() => directTransport({ service: "gemini", env: { AI_GATEWAY_API_KEY: "x" } })).toThrow(
    "=gateway.",
  );
  expect(() => transportFromEnvironment({})).toThrow(/AI_GATEWAY_API_KEY\.$/);
});

test("the environment names a service, with its own key and never by its key alone", () => {
  const env = { EVALUATOR_TRANSPORT: "gemini", GOOGLE_API_KEY: "g" };
  expect(transportFromEnvironment(env)).toMatchObject({
    name: "gemini",
    target: { modelId: "gemini-decision-1" },
  });
  expect(() => transportFromEnvironment({ OPENAI_API_KEY: "x" })).toThrow("AI_GATEWAY_API_KEY");
  expect(() => transportFromEnvironment({ EVALUATOR_TRANSPORT: "pigeon" })).toThrow(
    `is none of gateway, direct, logprobs, ${services.join(", ")}.`,
  );
});
