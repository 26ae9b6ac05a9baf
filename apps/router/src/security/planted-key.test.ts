import { expect, onTestFinished, test } from "vitest";
import { parseRouterOptions } from "../router-options.ts";
import { connectServices } from "../services/connect-services.ts";
import { startRouter } from "../start-router.ts";
import { startUpstream } from "../testing/start-upstream.ts";

const key = "planted-key-4711";
const decision = {
  answers: {
    tier: {
      type: "choice",
      choice: "nano",
      probabilities: { nano: 1, fast: 0, balanced: 0, frontier: 0 },
    },
  },
  rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
  usage: { inputTokens: 1, outputTokens: 1 },
  warnings: [],
  providerMetadata: {},
};

/** A gateway that repeats the key wherever it can. */
function startEcho(failing: "evaluation" | "reply", status: number, type: string) {
  return startUpstream(({ url, headers }, response) => {
    const decides = url?.endsWith("/evaluation-model") && failing === "reply";
    const message = `You sent ${headers.authorization} and ${key}`;
    response.writeHead(decides ? 200 : status, { "x-echo": key, "retry-after-ms": "0" });
    response.end(JSON.stringify(decides ? decision : { error: { message, type } }));
  });
}

async function startOn(upstream: string) {
  const env = { PORT: "0", AI_GATEWAY_API_KEY: key, EVALUATOR_BASE_URL: `${upstream}/v4/ai` };
  const options = parseRouterOptions(env);
  const services = connectServices(options.gateway);
  const defects: Error[] = [];
  const reportDefect = (error: Error) => defects.push(error);
  const router = await startRouter({ options, services, reportDefect });
  onTestFinished(() => router.close());
  return { origin: router.origin, defects };
}

async function wholeText(response: Response): Promise<string> {
  return JSON.stringify([...response.headers]) + (await response.text());
}

test.each([
  ["evaluation", 401, "authentication_error"],
  ["evaluation", 400, "invalid_request_error"],
  ["evaluation", 429, "rate_limit_exceeded"],
  ["reply", 401, "authentication_error"],
  ["reply", 400, "invalid_request_error"],
  ["reply", 500, "internal_server_error"],
] as const)("the key is in no answer when the %s fails with %i", async (failing, status, type) => {
  const { origin, defects } = await startOn(await startEcho(failing, status, type));
  const headers = { "content-type": "application/json" };
  const answers = [
    await fetch(origin),
    await fetch(`${origin}/nowhere`),
    await fetch(`${origin}/chat`, { method: "POST", headers, body: "{" }),
    await fetch(`${origin}/chat`, { method: "POST", headers, body: '{"message":"hello"}' }),
  ];
  const texts = await Promise.all(answers.map(wholeText));
  expect(texts[3]).toMatch(/"(error|replyError)":"/);
  expect(texts.join("\n")).not.toContain(key);
  expect(defects).toEqual([]);
});
