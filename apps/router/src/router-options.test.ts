import { expect, test } from "vitest";
import { parseRouterOptions } from "./router-options.ts";
import { StartError } from "./start-error.ts";

test("nothing set means the loopback address, port 3000, the default models and no gateway", () => {
  expect(parseRouterOptions({})).toEqual({
    host: "127.0.0.1",
    port: 3000,
    tierModels: {
      nano: "openai/gpt-5-nano",
      fast: "google/gemini-3.1-flash-lite",
      balanced: "anthropic/claude-sonnet-5.5",
      frontier: "anthropic/claude-fable-5.1",
    },
    gateway: null,
  });
});

test("everything can be set", () => {
  const env = {
    HOST: "::1",
    PORT: "0",
    ROUTER_MODEL_NANO: "a/nano",
    ROUTER_MODEL_FAST: "a/fast",
    ROUTER_MODEL_BALANCED: "a/balanced",
    ROUTER_MODEL_FRONTIER: "a/frontier",
    AI_GATEWAY_API_KEY: " key\n",
    EVALUATOR_BASE_URL: "http://127.0.0.1:4000/v4/ai",
  };
  expect(parseRouterOptions(env)).toEqual({
    host: "::1",
    port: 0,
    tierModels: { nano: "a/nano", fast: "a/fast", balanced: "a/balanced", frontier: "a/frontier" },
    gateway: { apiKey: "key", baseUrl: "http://127.0.0.1:4000/v4/ai", env },
  });
});

test("a blank variable counts as unset", () => {
  const env = { PORT: "", HOST: " ", AI_GATEWAY_API_KEY: "  ", ROUTER_MODEL_FAST: "" };
  expect(parseRouterOptions(env)).toEqual(parseRouterOptions({}));
});

const wrong: [env: Record<string, string>, message: string][] = [
  [{ PORT: "http" }, 'PORT="http" is not a port; set it to a whole number from 0 to 65535'],
  [{ PORT: "65536" }, 'PORT="65536" is not a port'],
  [{ PORT: "-1" }, 'PORT="-1" is not a port'],
  [{ PORT: "3000.5" }, 'PORT="3000.5" is not a port'],
  [{ HOST: "0.0.0.0" }, 'HOST="0.0.0.0" is not a loopback address; set it to 127.0.0.1'],
  [{ ROUTER_MODEL_FAST: "gpt" }, 'ROUTER_MODEL_FAST="gpt" is not a model id'],
  [{ ROUTER_MODEL_NANO: "a/b\nc: d" }, 'ROUTER_MODEL_NANO="a/b\\nc: d" is not a model id'],
  [{ EVALUATOR_BASE_URL: "ftp://x" }, 'EVALUATOR_BASE_URL="ftp://x" is not an http or https URL'],
];

test.each(wrong)("refuses %j in one line", (env, message) => {
  const parse = () => parseRouterOptions(env);
  expect(parse).toThrow(StartError);
  expect(parse).toThrow(message);
  expect(parse).not.toThrow(/\n/);
});

test("a key that no header can carry is refused and not shown", () => {
  const parse = () => parseRouterOptions({ AI_GATEWAY_API_KEY: "planted\nkey" });
  expect(parse).toThrow("AI_GATEWAY_API_KEY has a space, a line break");
  expect(parse).not.toThrow(/planted/);
});
