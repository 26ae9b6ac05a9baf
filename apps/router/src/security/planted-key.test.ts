import { expect, onTestFinished, test } from "vitest";
import { parseRouterOptions } from "../options/router-options.ts";
import { connectServices } from "../services/connect-services.ts";
import { startRouter } from "../start-router.ts";
import { startUpstream } from "../testing/start-upstream.ts";

const key = "planted-key-4711";
const token = "planted-token-of-many-characters";
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
  const env = {
    PORT: "0",
    AI_GATEWAY_API_KEY: key,
    EVALUATOR_BASE_URL: `${upstream}/v4/ai`,
    ROUTER_ACCESS_TOKEN: token,
  };
  const options = parseRouterOptions(env);
  const services = connectServices(options.gateway);
  const told: unknown[] = [];
  const defects: Error[] = [];
  const router = await startRouter({
    options,
    services,
    reportDefect: (error) => defects.push(error),
    observe: (record) => told.push(record),
    writeAccess: (line) => told.push(line),
  });
  onTestFinished(() => router.close());
  return { origin: router.origin, told, defects };
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
] as const)(
  "the key is in no answer and no log when the %s fails with %i",
  async (failing, status, type) => {
    const { origin, told, defects } = await startOn(await startEcho(failing, status, type));
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const post = (path: string, body: string, more: Record<string, string> = {}) =>
      fetch(origin + path, { method: "POST", headers: { ...headers, ...more }, body });
    const conversation = { model: "auto", messages: [{ role: "user", content: "hello" }] };
    const answers = [
      await post("/chat", '{"message":"hello"}'),
      await post("/chat", '{"message":"hello"}', { accept: "text/event-stream" }),
      await post("/decide", '{"message":"hello"}'),
      await post("/v1/chat/completions", JSON.stringify(conversation)),
      await post("/v1/chat/completions", JSON.stringify({ ...conversation, stream: true })),
      await post("/chat", "{"),
      await fetch(origin),
      ...(await Promise.all(
        ["/", "/nowhere", "/v1/models", "/metrics", "/healthz", "/readyz"].map((path) =>
          fetch(origin + path, { headers }),
        ),
      )),
    ];
    const texts = await Promise.all(answers.map(wholeText));
    expect(texts[0]).toMatch(/"(error|replyError)":"/);
    const everything = [...texts, ...told.map((item) => JSON.stringify(item))].join("\n");
    expect(everything).not.toContain(key);
    expect(everything).not.toContain(token);
    expect(told.length).toBeGreaterThan(answers.length);
    expect(defects).toEqual([]);
  },
);
