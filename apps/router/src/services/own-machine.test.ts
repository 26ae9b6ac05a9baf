import { APICallError } from "ai";
import { createEmulator, type EmulatorOptions } from "evaluator-emulator";
import { expect, onTestFinished, test } from "vitest";
import type { MessageRecord } from "../records/message-record.ts";
import { redactor } from "../reply/redactor.ts";
import { toReplyFailure } from "../reply/reply-failure.ts";
import { parseRouterOptions } from "../router-options.ts";
import { plantedKey } from "../testing/keep-output.ts";
import { nineFields, readEvents } from "../testing/read-answers.ts";
import { runHere, startRouterHere } from "../testing/start-program.ts";
import { startTestRouter } from "../testing/test-router.ts";
import { startUpstream } from "../testing/upstreams.ts";
import { connectServices } from "./connect-services.ts";

/** Starts a chat server as people run it on their own machine, and returns its address. */
async function startServer(options: EmulatorOptions = {}): Promise<string> {
  const emulator = createEmulator({ engine: "ollama", exchanges: [], ...options });
  onTestFinished(() => emulator.close());
  return new URL((await emulator.listen()).directBaseUrl).origin;
}

/** The four lines of the README. */
const fourLines = (server: string) => ({
  EVALUATOR_TRANSPORT: "logprobs",
  EVALUATOR_LOGPROBS_BASE_URL: server,
  EVALUATOR_MODEL_ID: "qwen3:4b",
  ROUTER_REPLY_BASE_URL: server,
});

function postJson(url: string, body: object, headers: Record<string, string> = {}) {
  const own = { "content-type": "application/json", ...headers };
  return fetch(url, { method: "POST", headers: own, body: JSON.stringify(body) });
}

async function streamedText(response: Response): Promise<string> {
  const sent = await readEvents(response);
  const deltas = sent.map(({ data }) => data as { choices?: { delta: { content?: string } }[] });
  return deltas.map(({ choices }) => choices?.[0]?.delta.content ?? "").join("");
}

/** A router whose services are what the environment names. */
async function startRouterOn(env: Record<string, string>) {
  const services = connectServices(parseRouterOptions(env));
  const records: MessageRecord[] = [];
  const observe = (record: MessageRecord) => records.push(record);
  const router = await startTestRouter({}, { env, services, observe });
  const post = (path: string, headers: Record<string, string> = {}) =>
    postJson(router.origin + path, { message: "hi" }, headers);
  const complete = (differences: object = {}) =>
    postJson(`${router.origin}/v1/chat/completions`, { ...conversation, ...differences });
  return { ...router, records, post, complete, services };
}

const events = { accept: "text/event-stream" };
const conversation = { model: "auto", messages: [{ role: "user", content: "hi" }] };
const text = 'This reply comes from the local emulator, not from a language model. You asked: "hi"';

test("four lines of settings make the router decide and reply on one's own machine", async () => {
  const server = await startServer();
  const { post, complete, records } = await startRouterOn(fourLines(server));
  const decided = (await (await post("/decide")).json()) as object;
  expect(decided).toMatchObject({
    tierChosen: "nano",
    model: "qwen3:4b",
    wire: `emulator logprobs ${server}`,
    evaluatorModelId: expect.any(String),
    costUsd: null,
    prices: { model: null, frontier: null },
  });
  const whole = (await (await post("/chat")).json()) as object;
  expect(Object.keys(whole)).toEqual(nineFields);
  expect(whole).toMatchObject({ reply: text, replyError: null, usage: { totalTokens: 22 } });

  const sent = await readEvents(await post("/chat", events));
  const deltas = sent.filter(({ event }) => event === "reply");
  expect(deltas.map(({ data }) => (data as { delta: string }).delta).join("")).toBe(text);
  expect(sent.at(-1)).toMatchObject({
    event: "done",
    data: { model: "qwen3:4b", replyError: null, usage: { totalTokens: 22 } },
  });

  expect(await (await complete()).json()).toMatchObject({
    choices: [{ message: { content: text }, finish_reason: "stop" }],
  });
  const stream_options = { include_usage: true };
  expect(await streamedText(await complete({ stream: true, stream_options }))).toBe(text);
  expect(records).toHaveLength(5);
  for (const record of records.slice(1)) {
    expect(record).toMatchObject({ replyCostUsd: null, isEstimate: false, outputTokens: 21 });
  }
});

test("an engine without confidence has its choice's probability compared with the least one", async () => {
  const env = { ...fourLines(await startServer()), ROUTER_MIN_CONFIDENCE: "0.99" };
  const { post } = await startRouterOn(env);
  expect(await (await post("/decide")).json()).toMatchObject({
    tierChosen: "nano",
    tierUsed: "fast",
    cause: "low-confidence",
    confidence: null,
  });
});

test("each tier may have a model of its own, and the server is given its key", async () => {
  const asked: [model: string, key: string | undefined][] = [];
  const server = await startUpstream((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      asked.push([(JSON.parse(body) as { model: string }).model, request.headers.authorization]);
      const choices = [{ index: 0, message: { content: "Hello" }, finish_reason: "stop" }];
      response.setHeader("content-type", "application/json").end(JSON.stringify({ choices }));
    });
  });
  const { complete } = await startRouterOn({
    ROUTER_REPLY_BASE_URL: `${server}/api/v1/`,
    ROUTER_REPLY_API_KEY: plantedKey,
    ROUTER_MODEL_NANO: "tiny",
    ROUTER_MODEL_FAST: "small",
    ROUTER_MODEL_BALANCED: "org/middle",
    ROUTER_MODEL_FRONTIER: "large:70b",
  });
  for (const model of ["nano", "fast", "balanced", "frontier"]) {
    expect((await complete({ model })).status).toBe(200);
  }
  const models = ["tiny", "small", "org/middle", "large:70b"];
  expect(asked).toEqual(models.map((model) => [model, `Bearer ${plantedKey}`]));
});

test("a server that tells no tokens has its reply estimated, and one that thinks is not shown thinking", async () => {
  const chunks = [
    { choices: [{ delta: { role: "assistant", reasoning_content: "Hm." } }] },
    { choices: [{ delta: { content: "Hel" } }] },
    { choices: [{ delta: { content: "lo" } }] },
    { choices: [{ delta: { content: "!" }, finish_reason: "stop" }] },
  ];
  const { post, records } = await startRouterOn(await streaming(chunks, "[DONE]"));
  const sent = await readEvents(await post("/chat", events));
  const deltas = sent.filter(({ event }) => event === "reply");
  expect(deltas.map(({ data }) => (data as { delta: string }).delta).join("")).toBe("Hello!");
  expect(sent.at(-1)).toMatchObject({ event: "done", data: { replyError: null } });
  expect(records).toMatchObject([{ outcome: "replied", outputTokens: null }]);
});

const finish = { choices: [{ delta: {}, finish_reason: "stop" }] };

test.each<[what: string, chunks: object[], last: string | null, words: string]>([
  ["breaks off", [{ choices: [{ delta: { content: "Hel" } }] }], null, "The reply broke off: "],
  ["sends an error", [{ error: { message: "CUDA ran out" } }, finish], null, "broke off: CUDA ran"],
  ["sends no JSON", [], "{", "sent an event that is not JSON"],
])("a stream that %s says so in the router's words", async (_what, chunks, last, words) => {
  const { post, records } = await startRouterOn(await streaming(chunks, last));
  const sent = await readEvents(await post("/chat", events));
  expect(sent.at(-1)).toMatchObject({
    event: "done",
    data: { replyError: expect.stringContaining(words) },
  });
  expect(records).toMatchObject([{ outcome: "reply-failed", isEstimate: true }]);
});

/** Settings for a server that streams what it is given; `last` comes as it is. */
async function streaming(chunks: readonly object[], last: string | null) {
  const lines = [...chunks.map((chunk) => JSON.stringify(chunk)), ...(last === null ? [] : [last])];
  const server = await startUpstream((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(lines.map((line) => `data: ${line}\n\n`).join(""));
  });
  return { ...fourLines(await startServer()), ROUTER_REPLY_BASE_URL: server };
}

test.each<[status: number, error: string, words: string]>([
  [401, "bad key", "refused the key"],
  [404, 'model "qwen3:4b" not found, try pulling it first', "not found, try pulling it first"],
])("a server that answers %d is described in a line", async (status, message, words) => {
  const server = await startUpstream((request, response) => {
    request.resume();
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message, type: "any" } }));
  });
  const { post } = await startRouterOn({
    ...fourLines(await startServer()),
    ROUTER_REPLY_BASE_URL: server,
  });
  expect(await (await post("/chat")).json()).toMatchObject({
    reply: "",
    replyError: expect.stringContaining(words),
  });
});

test("a limit of the server stays a 429 with its Retry-After", async () => {
  const server = await startUpstream((request, response) => {
    request.resume();
    response.writeHead(429, { "content-type": "application/json", "retry-after-ms": "1" });
    response.end(JSON.stringify({ error: { message: "slow down" } }));
  });
  const env = { ...fourLines(await startServer()), ROUTER_REPLY_BASE_URL: server };
  const { complete } = await startRouterOn(env);
  const { status, headers } = await complete();
  expect([status, headers.get("retry-after")]).toEqual([429, "1"]);
});

test("a server that is not there is named, with the variable to check", () => {
  const url = "http://127.0.0.1:9/v1/chat/completions";
  const message = "Cannot connect to API: connect ECONNREFUSED 127.0.0.1:9";
  const error = new APICallError({ message, url, requestBodyValues: {}, isRetryable: true });
  const keyVariable = "ROUTER_REPLY_API_KEY";
  const service = { type: "openai-chat", name: "reply-server", keyVariable } as const;
  const { replyError } = toReplyFailure(error, redactor([]), { service, limit: null });
  expect(replyError).toBe(`${message}. Check ROUTER_REPLY_BASE_URL.`);
});

test("the program says who decides and who replies, and that there are no prices", async () => {
  const server = await startServer();
  const { interrupt, ended, origin } = startRouterHere({
    PORT: "0",
    ...fourLines(server),
  });
  const page = await (await fetch(await origin)).text();
  interrupt();
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const who = `Decisions are asked of qwen3:4b at ${server}, read from its log-probabilities. Replies come from the models at ${server}/v1.`;
  expect(stdout.split("\n").slice(1, 3)).toEqual([
    who,
    "Replies have no price list, so their costs and the savings are unknown.",
  ]);
  expect(page).toContain(`<aside class="engine">${who}</aside>`);
});

test("the self-check asks one's own server", async () => {
  const server = await startServer();
  const { stdout } = await runHere("self-check", fourLines(server), ["--live"]);
  expect(stdout).toMatch(
    /^Decisions are asked of qwen3:4b at http:\S+, read from its log-probabilities\. Replies come/,
  );
  expect(stdout).toContain("a bare greeting: nano");
});

test("with one of the two on one's own machine the notice says what the emulator does", () => {
  const { ROUTER_REPLY_BASE_URL, ...decisions } = fourLines("http://127.0.0.1:9");
  const names = ["NANO", "FAST", "BALANCED", "FRONTIER"].map((tier) => `ROUTER_MODEL_${tier}`);
  const models = Object.fromEntries(names.map((name) => [name, "qwen3:4b"]));
  const noticeOf = (env: Record<string, string>) => {
    const { notice, isEmulated } = connectServices(parseRouterOptions(env));
    expect(isEmulated).toBe(true);
    return notice;
  };
  expect(noticeOf(decisions)).toBe(
    "Decisions are asked of qwen3:4b at http://127.0.0.1:9, read from its log-probabilities. Replies come from the local emulator. Replies of the emulator are no model's: set AI_GATEWAY_API_KEY or ROUTER_REPLY_BASE_URL.",
  );
  expect(noticeOf({ ROUTER_REPLY_BASE_URL, ...models })).toBe(
    "Decisions are asked of the local emulator. Replies come from the models at http://127.0.0.1:9/v1. Decisions of the emulator are no model's: set AI_GATEWAY_API_KEY or EVALUATOR_TRANSPORT.",
  );
});
