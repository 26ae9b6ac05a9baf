import { UsageError } from "evaluator-kit";
import { expect, test } from "vitest";
import { defaultTierModels } from "../options/environment-schema.ts";
import { selfCheckOptions } from "./run-self-check.ts";

const env = { AI_GATEWAY_API_KEY: "key" };
const decider = { EVALUATOR_TRANSPORT: "logprobs", EVALUATOR_MODEL_ID: "qwen3:4b" };
const tierModels = {
  ROUTER_MODEL_NANO: "a",
  ROUTER_MODEL_FAST: "a",
  ROUTER_MODEL_BALANCED: "a",
  ROUTER_MODEL_FRONTIER: "a",
};

test("the emulator answers unless --live is given, key or no key", () => {
  expect(selfCheckOptions([], env).engines).toMatchObject({ evaluator: null, reply: null });
  expect(selfCheckOptions(["--live"], env).engines).toMatchObject({
    evaluator: env,
    reply: { apiKey: "key" },
  });
});

test.each([{}, { ROUTER_REPLY_BASE_URL: "http://127.0.0.1:1", ...tierModels }, decider])(
  "--live with %j alone says what to set",
  (some) => {
    expect(() => selfCheckOptions(["--live"], some)).toThrow(
      "set AI_GATEWAY_API_KEY, or EVALUATOR_TRANSPORT and ROUTER_REPLY_BASE_URL, or leave out",
    );
  },
);

test("--live asks a server of one's own, and without it the emulator's own models are asked", () => {
  const own = { ...decider, ROUTER_REPLY_BASE_URL: "http://127.0.0.1:1" };
  expect(selfCheckOptions(["--live"], own)).toMatchObject({
    engines: { evaluator: own, reply: { baseUrl: "http://127.0.0.1:1/v1" } },
    tierModels: { nano: "qwen3:4b" },
  });
  expect(selfCheckOptions([], own).tierModels).toEqual(defaultTierModels);
});

test.each([["--life"], ["now"], ["--live=yes"]])("%s shows the usage", (word) => {
  expect(() => selfCheckOptions([word], {})).toThrow(UsageError);
});
