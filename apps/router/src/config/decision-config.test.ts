// oxlint-disable unicorn/no-thenable -- `then` is a place in the list of services
import { expect, test } from "vitest";
import { readConfig } from "../testing/read-config.ts";

const env = { OPENROUTER_API_KEY: "or-key", OWN_KEY: "own-key", CLOUDFLARE_API_TOKEN: "cf-key" };
const read = (decisions: unknown, more: object = {}) =>
  readConfig(JSON.stringify({ decisions, ...more }), env);

test("a service has its own key, and at another address only the key that is named", async () => {
  const baseUrl = "http://127.0.0.1:8080";
  const config = await read(
    [
      { service: "openrouter", price: { input: 0.05 } },
      { service: "openrouter", baseUrl },
      { service: "openai", baseUrl, apiKeyEnv: "OWN_KEY", model: "m" },
      { service: "cloudflare", accountId: "a1" },
    ],
    { models: { "gpt-6-luna": 2 } },
  );
  expect(config?.decisions).toMatchObject([
    { service: "openrouter", apiKey: "or-key", price: 0.05, model: null },
    { apiKey: null, baseUrl, price: null },
    { apiKey: "own-key", model: "m" },
    { apiKey: "cf-key", accountId: "a1" },
  ]);
  expect(config?.models).toEqual(new Map([["gpt-6-luna", 2]]));
  expect(config?.keys).toEqual(["or-key", "own-key", "cf-key"]);
});

test.each([
  [{}, "decisions is not a list"],
  [[{ service: "acme" }], "decisions[0].service is none of gateway, typesafe, openai"],
  [[{ service: "openai" }], "decisions[0].apiKeyEnv is missing, and OPENAI_API_KEY is not set"],
  [[{ service: "openai", apiKey: "sk-secret" }], "decisions[0].apiKey is a secret"],
  [[{ service: "openai", apiKeyEnv: "NONE" }], "decisions[0].apiKeyEnv names NONE"],
  [[{ service: "cloudflare" }], "decisions[0].accountId is missing"],
  [[{ service: "fireworks", apiKeyEnv: "OWN_KEY" }], "decisions[0].model is missing"],
  [[{ service: "openrouter", price: 1 }], "decisions[0].price is not an object"],
  [[{ service: "openrouter", then: 0 }], "decisions[0].unsure is missing"],
  [[{ service: "openrouter", unsure: "0.8" }], "decisions[0].then is missing, and no then"],
  [[{ service: "openrouter", then: 0, unsure: "0.8" }], "decisions[0].then is its own place"],
  [
    [{ service: "openrouter", then: 1, unsure: "0.8" }],
    "decisions[0].then is not a place in decisions, from 0 to 0",
  ],
  [[{ service: "openrouter", then: 0, unsure: "0,8" }], "decisions[0].unsure is not when"],
  [[{ service: "openrouter", then: 0, unsure: ["0.8", "0.8..0.2"] }], "unsure is not when"],
  [[{ service: "openrouter", modell: "x" }], "decisions[0].modell is not a known field"],
])("rejects %j", async (decisions, problem) => {
  await expect(read(decisions)).rejects.toThrow(problem);
});

test.each([1, -1, 0.5, "first"])("a model's place %j is none of one service", async (place) => {
  const given = read([{ service: "openrouter" }], { models: { a: place } });
  await expect(given).rejects.toThrow("models.a is not a place in decisions, from 0 to 0");
});
