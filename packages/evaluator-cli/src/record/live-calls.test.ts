import { trimEnvironment } from "evaluator-kit";
import { expect, test } from "vitest";
import { exchangesFolder } from "../testing/record.ts";
import { chooseCalls } from "./live-calls.ts";

const folder = exchangesFolder;

test("a transport without a key is left out; blank counts as none", () => {
  const env = { AI_GATEWAY_API_KEY: " ", EVALUATOR_DIRECT_API_KEY: " a-key " };
  const { calls, keys } = chooseCalls([], { env: trimEnvironment(env), folder });
  expect(keys).toEqual(["a-key"]);
  const services = new Set(calls.map(({ url, apiKey }) => `${apiKey} ${new URL(url).origin}`));
  expect([...services]).toEqual(["a-key https://api.typesafe.ai"]);
});

test("base URLs are taken from the environment, without a slash at the end", () => {
  const env = {
    AI_GATEWAY_API_KEY: "a",
    EVALUATOR_BASE_URL: "https://example.com/v4/ai/",
    EVALUATOR_DIRECT_API_KEY: "b",
    EVALUATOR_DIRECT_BASE_URL: "http://127.0.0.1:8787/direct",
  };
  const names = ["gateway/greeting-routes-to-nano", "direct/three-question-types"];
  const { calls } = chooseCalls(names, { env, folder });
  expect(calls.map(({ url }) => url)).toEqual([
    "https://example.com/v4/ai/evaluation-model",
    "http://127.0.0.1:8787/direct/v1/systemone",
  ]);
});

test.each([
  ["AI_GATEWAY_API_KEY", "two words"],
  ["EVALUATOR_DIRECT_API_KEY", "ké"],
  ["EVALUATOR_BASE_URL", "mine.test"],
  ["EVALUATOR_BASE_URL", "ftp://mine.test"],
  ["EVALUATOR_BASE_URL", "https://user:word@mine.test"],
  ["EVALUATOR_DIRECT_BASE_URL", "https://mine.test/?key=word"],
])("names %s when it cannot be %j, and never shows it", (variable, value) => {
  const env = { AI_GATEWAY_API_KEY: "a", EVALUATOR_DIRECT_API_KEY: "b", [variable]: value };
  expect(() => chooseCalls([], { env, folder })).toThrow(variable);
  expect(() => chooseCalls([], { env, folder })).toThrow(/^(?!.*(?:word|ké|mine))/);
});

test.each([
  ["gateway/greeting-routes-to-nano", "https://example.com/v4/ai", "/v4/ai/evaluation-model"],
  ["gateway/greeting-routes-to-nano", "https://example.com/proxy", "/proxy/evaluation-model"],
  ["gateway/credits-read-as-numbers", "https://example.com/v4/ai", "/v1/credits"],
  ["direct/three-question-types", "https://example.com", "/v1/systemone"],
  ["direct/three-question-types", "https://example.com/direct", "/direct/v1/systemone"],
])("the request of %s under %s goes to %s", (name, baseUrl, expected) => {
  const env = {
    AI_GATEWAY_API_KEY: "a",
    EVALUATOR_BASE_URL: baseUrl,
    EVALUATOR_DIRECT_API_KEY: "b",
    EVALUATOR_DIRECT_BASE_URL: baseUrl,
  };
  const { calls } = chooseCalls([name], { env, folder });
  expect(calls.map(({ url }) => url)).toEqual([`https://example.com${expected}`]);
});
