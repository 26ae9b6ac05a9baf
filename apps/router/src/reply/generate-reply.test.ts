import { APICallError, createGateway } from "ai";
import { expect, test } from "vitest";
import { plantedKey } from "../testing/keep-output.ts";
import { deltaOf } from "../testing/reply-stream.ts";
import { generateReply } from "./generate-reply.ts";
import { redactor } from "./redactor.ts";
import { replyFetch } from "./reply-fetch.ts";

type ReplyOptions = Parameters<typeof generateReply>[1];

const atOnce = { "retry-after-ms": "0" };

function replyFrom(fetch: typeof globalThis.fetch, options: Partial<ReplyOptions> = {}) {
  const gateway = { apiKey: plantedKey, baseURL: "http://gateway.invalid" };
  const { signal } = new AbortController();
  return generateReply("hello", {
    models: ["a/b"],
    openModel: (model, listener) =>
      createGateway({ ...gateway, fetch: replyFetch(fetch, listener) })(model),
    meter: { characters: 0, reported: null },
    signal,
    redact: redactor([plantedKey]),
    now: () => 0,
    ...options,
  });
}

function httpError(status: number, error: object) {
  return async () => Response.json({ error }, { status, headers: atOnce });
}

const failures: [situation: string, fetch: typeof globalThis.fetch, replyError: string][] = [
  [
    "a rate limit, after its retries",
    httpError(429, {
      message: "Free tier requests are rate-limited.",
      type: "rate_limit_exceeded",
    }),
    "Free tier requests are rate-limited.",
  ],
  [
    "a model outside the free tier",
    httpError(403, { message: "Free tier users do not have access.", type: "forbidden" }),
    "Free tier users do not have access.",
  ],
  [
    "a rejected key, without the terminal colours of the ai package",
    httpError(401, { message: "Invalid key.", type: "authentication_error" }),
    "The gateway refused the key; check AI_GATEWAY_API_KEY.",
  ],
  [
    "a provider's own error",
    httpError(529, { type: "overloaded_error", message: "Overloaded\n\u001B[31mtoday" }),
    "Overloaded today",
  ],
  [
    "an error that is not JSON",
    async () => new Response("<h1>", { status: 502, statusText: "Bad Gateway", headers: atOnce }),
    "Bad Gateway (status 502)",
  ],
  [
    "an answer that is not JSON",
    async () => new Response("{"),
    "Invalid JSON response (status 200)",
  ],
  [
    "an error that repeats the key",
    httpError(400, { message: `Bad header: Bearer ${plantedKey}`, type: "invalid_request_error" }),
    "Bad header: Bearer [secret]",
  ],
];

test.each(failures)("says why after %s", async (_situation, fetch, replyError) => {
  expect(await replyFrom(fetch)).toMatchObject({
    replyMs: 0,
    reply: "",
    replyError,
    usage: null,
    finishReason: null,
  });
});

test("what a failure tells programs holds no part of the key", async () => {
  const failing = (part: string) => {
    const told = { message: "no", url: "http://model.invalid", requestBodyValues: {} };
    const responseHeaders = { "retry-after": `7${part}` };
    const data = { error: { code: `limit${part.replaceAll(/\W/g, "_")}` } };
    return () => {
      throw new APICallError({ ...told, statusCode: 429, responseHeaders, data });
    };
  };
  const redact = redactor(["key_of_letters_alone"]);
  const given = (part: string) =>
    replyFrom(async () => Response.json({}), { openModel: failing(part), redact });
  expect((await given("")).httpError).toEqual({ status: 429, code: "limit", retryAfter: "7" });
  expect((await given("_of_letters")).httpError).toEqual({
    status: 429,
    code: null,
    retryAfter: null,
  });
});

test("says so when the time limit passes", async () => {
  const hang: typeof globalThis.fetch = (_input, init) =>
    new Promise((_, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  const { replyError } = await replyFrom(hang, { timeoutMs: 1 });
  expect(replyError).toBe("The reply model took too long; try again later.");
});

test("throws the reason of the client that went away", async () => {
  const reason = new Error("gone");
  const fails = async () => Promise.reject(new TypeError("fetch failed"));
  const reply = replyFrom(fails, { signal: AbortSignal.abort(reason) });
  await expect(reply).rejects.toBe(reason);
});

test("gives the text, the tokens and the time in whole milliseconds", async () => {
  const times = [1000, 1234.6];
  const usage = { inputTokens: { total: 3 }, outputTokens: { total: 4 } };
  const body = {
    content: [{ type: "text", text: "Hello!" }],
    finishReason: { unified: "stop" },
    usage,
    warnings: [],
  };
  const now = () => times.shift() ?? 0;
  const reply = await replyFrom(async () => Response.json(body), { now });
  expect(reply).toEqual({
    replyMs: 235,
    reply: "Hello!",
    replyError: null,
    usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
    billed: { usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 }, isEstimate: false },
    finishReason: "stop",
    httpError: null,
    toolCalls: [],
  });
});

test.each([
  ["before its first word is followed by the next", false, ["first", "second"]],
  ["after its first word is not", true, ["first"]],
] as const)("a model that fails %s", async (_what, hasBegun, expected) => {
  const asked: string[] = [];
  const openModel: ReplyOptions["openModel"] = (model, listener) => {
    asked.push(model);
    if (hasBegun) void listener?.onText("half");
    const failure = { message: "Overloaded", url: "http://model.invalid", requestBodyValues: {} };
    throw new APICallError({ ...failure, statusCode: 500 });
  };
  const { replyError } = await replyFrom(async () => Response.json({}), {
    models: ["first", "second"],
    openModel,
    onDelta: () => undefined,
  });
  expect(asked).toEqual(expected);
  expect(replyError).toBe("Overloaded");
});

test("of a chunk that crosses the limit of 16 MiB, the text up to the limit is passed on", async () => {
  const large = "a".repeat(9 * 1024 * 1024);
  const chunk = ["kept ", large, large, "late"].map(deltaOf).join("");
  let text = "";
  const { replyError } = await replyFrom(async () => new Response(chunk), {
    onDelta: (delta) => void (text += delta),
  });
  expect(text === `kept ${large}`).toBe(true);
  expect(replyError).toBe("The reply was ended: it is over 16 MiB, the router's limit.");
});
