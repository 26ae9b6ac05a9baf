import type { Transport } from "evaluator-client";
import { expect, test } from "vitest";
import { openTransport } from "../service.ts";
import { findPrice, tokensUsd } from "./price.ts";

test("a million tokens have the price of a million", () => {
  expect(tokensUsd(2_000_000, { inputUsdPerMillionTokens: 1, source: "--price" })).toBe(2);
});

async function isDocumented(transport: Transport): Promise<boolean> {
  const { signal } = new AbortController();
  const { source } = await findPrice({ given: undefined, catalog: null, transport, signal });
  return source === "the documented price";
}

const logprobs = {
  EVALUATOR_TRANSPORT: "logprobs",
  EVALUATOR_LOGPROBS_BASE_URL: "http://127.0.0.1:11434",
  EVALUATOR_MODEL_ID: "qwen3:4b",
};
const direct = { EVALUATOR_TRANSPORT: "direct", EVALUATOR_DIRECT_API_KEY: "any" };

test.each([
  [{ AI_GATEWAY_API_KEY: "any" }, true],
  [direct, true],
  [{ ...direct, EVALUATOR_DIRECT_BASE_URL: "http://127.0.0.1:8000" }, false],
  [logprobs, false],
])("whether the contract says what %j costs: %s", async (env, isKnown) => {
  const transport = await openTransport({ offline: false, dryRun: false, env });
  expect(await isDocumented(transport)).toBe(isKnown);
});

test("nobody documents what a transport costs that has another name", async () => {
  const env = { AI_GATEWAY_API_KEY: "any" };
  const gateway = await openTransport({ offline: false, dryRun: false, env });
  expect(await isDocumented({ ...gateway, name: "pigeon" })).toBe(false);
  const emulator = await openTransport({ offline: true, dryRun: true, env });
  expect(await isDocumented(emulator)).toBe(true);
});
