import { trimEnvironment } from "evaluator-kit";
import { expect, test } from "vitest";
import { exchangesFolder } from "../testing/record.ts";
import { chooseCalls, readLiveServices } from "./live-calls.ts";

test("a transport without a key is left out; blank counts as none", () => {
  const env = { AI_GATEWAY_API_KEY: " ", EVALUATOR_DIRECT_API_KEY: " a-key " };
  const direct = { apiKey: "a-key", baseUrl: "https://api.typesafe.ai" };
  expect(readLiveServices(trimEnvironment(env))).toEqual({ gateway: null, direct });
});

test("base URLs are taken from the environment, without a slash at the end", () => {
  const services = readLiveServices({
    AI_GATEWAY_API_KEY: "a",
    EVALUATOR_BASE_URL: "https://example.com/v4/ai/",
    EVALUATOR_DIRECT_API_KEY: "b",
    EVALUATOR_DIRECT_BASE_URL: "http://127.0.0.1:8787/direct",
  });
  expect(services.gateway?.baseUrl).toBe("https://example.com/v4/ai");
  expect(services.direct?.baseUrl).toBe("http://127.0.0.1:8787/direct");
});

test.each([
  ["AI_GATEWAY_API_KEY", "two words"],
  ["EVALUATOR_DIRECT_API_KEY", "ké"],
  ["EVALUATOR_BASE_URL", "example.com"],
  ["EVALUATOR_BASE_URL", "ftp://example.com"],
  ["EVALUATOR_BASE_URL", "https://user:word@example.com"],
  ["EVALUATOR_DIRECT_BASE_URL", "https://example.com/?key=word"],
])("names %s when it cannot be %j, and never shows it", (variable, value) => {
  const env = { AI_GATEWAY_API_KEY: "a", EVALUATOR_DIRECT_API_KEY: "b", [variable]: value };
  expect(() => readLiveServices(env)).toThrow(variable);
  expect(() => readLiveServices(env)).toThrow(/^(?!.*(?:word|ké|example))/);
});

test.each([
  ["gateway/greeting-routes-to-nano", "https://example.com/v4/ai", "/v4/ai/evaluation-model"],
  ["gateway/greeting-routes-to-nano", "https://example.com/proxy", "/proxy/evaluation-model"],
  ["gateway/credits-read-as-numbers", "https://example.com/v4/ai", "/v1/credits"],
  ["direct/three-question-types", "https://example.com", "/v1/systemone"],
  ["direct/three-question-types", "https://example.com/direct", "/direct/v1/systemone"],
])("the request of %s under %s goes to %s", (name, baseUrl, expected) => {
  const services = readLiveServices({
    AI_GATEWAY_API_KEY: "a",
    EVALUATOR_BASE_URL: baseUrl,
    EVALUATOR_DIRECT_API_KEY: "b",
    EVALUATOR_DIRECT_BASE_URL: baseUrl,
  });
  const [call] = chooseCalls([name], { services, folder: exchangesFolder });
  expect(call?.url).toBe(`https://example.com${expected}`);
});
