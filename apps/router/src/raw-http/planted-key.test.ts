import { expect, test } from "vitest";
import { parseRouterOptions } from "../router-options.ts";
import { connectServices } from "../services/connect-services.ts";
import { plantedKey as key } from "../testing/keep-output.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { startRouterHere } from "../testing/start-program.ts";
import { startTestRouter } from "../testing/test-router.ts";
import { decisionFor, startUpstream } from "../testing/upstreams.ts";

// Every router of every test has the key in its environment, and its test fails where the key
// comes out. Here the gateway does all it can to get it out.

const token = "planted-token-of-many-characters";
const decision = decisionFor("nano", {
  warnings: [key],
  providerMetadata: { gateway: { generationId: key.slice(0, -4), marketCost: "0.00001" } },
});
const reply = {
  content: [{ type: "text", text: `The key is ${key}.` }],
  finishReason: { unified: "stop", raw: key },
  usage: { inputTokens: { total: key }, outputTokens: { total: 2 } },
  warnings: [{ type: "other", message: key }],
  providerMetadata: { gateway: { generationId: key } },
};

interface Failing {
  readonly call: "evaluation" | "reply" | "prices";
  readonly status: number;
  readonly type: string;
}

/** A gateway that repeats the key, or most of it, in headers, ids, texts, counts and errors. */
function startEcho(failing: Failing | null = null): Promise<string> {
  return startUpstream(async ({ url = "", headers }, response) => {
    const call = url.endsWith("/language-model")
      ? "reply"
      : url.endsWith("/evaluation-model")
        ? "evaluation"
        : "prices";
    const isFailing = failing?.call === call;
    const status = isFailing ? failing.status : 200;
    response.writeHead(status, { "x-echo": key, "x-request-id": key, "retry-after-ms": "0" });
    const most = `${key.slice(0, -4)}*** and ***${key.slice(-8)}`;
    const message = `You sent ${headers.authorization}: ${most}`;
    if (isFailing) response.end(JSON.stringify({ error: { message, type: failing.type } }));
    else if (headers["ai-language-model-streaming"] === "true") response.end(await streamed());
    else response.end(JSON.stringify({ evaluation: decision, reply, prices: { data: [] } }[call]));
  });
}

/** The key comes in two halves, and once more as the last words. */
function streamed(): Promise<string> {
  return replyStream(["The key is ", key.slice(0, 9), key.slice(9), `. ${key}`]).text();
}

async function startOn(upstream: string) {
  const env = {
    AI_GATEWAY_API_KEY: key,
    EVALUATOR_BASE_URL: `${upstream}/v4/ai`,
    ROUTER_ACCESS_TOKEN: token,
  };
  const services = connectServices(parseRouterOptions(env));
  return startTestRouter({}, { env, services });
}

const conversation = { model: "auto", messages: [{ role: "user", content: "hello" }] };
const posts: [path: string, body: unknown, accept: string][] = [
  ["/chat", { message: "hello" }, "application/json"],
  ["/chat", { message: "hello" }, "text/event-stream"],
  ["/decide", { message: "hello" }, "application/json"],
  ["/v1/chat/completions", conversation, "application/json"],
  ["/v1/chat/completions", { ...conversation, stream: true }, "application/json"],
  ["/chat", "no message", "application/json"],
];
const gets = ["/", "/nowhere", "/v1/models", "/metrics", "/healthz", "/readyz"];

/** Asks every endpoint, and returns what the first posts were answered. */
async function askAll(origin: string): Promise<string[]> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const texts: string[] = [];
  for (const [path, body, accept] of posts) {
    const init = { method: "POST", body: JSON.stringify(body), headers: { ...headers, accept } };
    texts.push(await (await fetch(origin + path, init)).text());
  }
  for (const path of gets) await (await fetch(origin + path, { headers })).text();
  await (await fetch(origin)).text(); // without the token
  return texts;
}

test.each<Failing>([
  { call: "evaluation", status: 401, type: "authentication_error" },
  { call: "evaluation", status: 400, type: "invalid_request_error" },
  { call: "evaluation", status: 429, type: "rate_limit_exceeded" },
  { call: "reply", status: 401, type: "authentication_error" },
  { call: "reply", status: 400, type: "invalid_request_error" },
  { call: "reply", status: 500, type: "internal_server_error" },
])("a gateway that repeats the key in its $call error ($status) tells it nobody", async (row) => {
  const { origin, defects } = await startOn(await startEcho(row));
  expect((await askAll(origin))[0]).toMatch(/"(error|replyError)":"/);
  expect(defects).toEqual([]);
});

test("a gateway that repeats the key in everything it answers tells it nobody", async () => {
  const { origin, defects } = await startOn(await startEcho());
  const [whole, events, decided, completion, chunks] = await askAll(origin);
  const usage = { inputTokens: null, outputTokens: null, totalTokens: null };
  expect(JSON.parse(whole ?? "")).toMatchObject({ reply: "The key is [secret]. [secret]", usage });
  expect(events).toContain('event: reply\ndata: {"delta":"The key is [secret]. [secret]"}\n');
  expect(JSON.parse(decided ?? "")).toMatchObject({ evaluationId: "[secret]" });
  expect(completion).toContain("The key is [secret].");
  expect(chunks).toContain('"content":"The key is [secret]. [secret]"');
  expect(defects).toEqual([]);
});

test("a price list that fails with the key in its error does not print it", async () => {
  const failing = { call: "prices", status: 500, type: "internal_server_error" } as const;
  const { interrupt, ended, firstWarning } = startRouterHere({
    PORT: "0",
    AI_GATEWAY_API_KEY: key,
    EVALUATOR_BASE_URL: `${await startEcho(failing)}/v4/ai`,
  });
  await firstWarning;
  interrupt();
  const { stderr } = await ended;
  expect(stderr).toContain("The price list cannot be read");
});
