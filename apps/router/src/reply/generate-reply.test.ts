import { expect, test } from "vitest";
import { plantedKey } from "../testing/keep-output.ts";
import { blocksOf, callFor, gatewayTarget } from "../testing/reply-calls.ts";
import { deltaOf, eventOf, replyStream } from "../testing/reply-stream.ts";
import { testClock } from "../testing/test-clock.ts";
import { redactor } from "./redactor.ts";
import { ReplyLimitError } from "./reply-piece.ts";
import { newMeter, noUsage } from "./usage.ts";

type Fetch = typeof globalThis.fetch;

const answer = (body: string | ReadableStream, init?: ResponseInit) => async () =>
  new Response(body, init);
const httpError =
  (status: number, error: object, headers: Record<string, string> = {}) =>
  async () =>
    Response.json({ error }, { status, headers });

const overloaded = httpError(529, { type: "overloaded_error", message: "Overloaded" });

const failures: [situation: string, fetch: Fetch, replyError: string, status: number | null][] = [
  [
    "a rate limit",
    httpError(429, { message: "Rate-limited.", type: "rate_limit_exceeded" }),
    "Rate-limited.",
    429,
  ],
  [
    "a refused model",
    httpError(403, { message: "No access.", type: "forbidden" }),
    "No access.",
    403,
  ],
  [
    "a rejected key, without the terminal colours of the ai package",
    httpError(401, { message: "Invalid key.", type: "authentication_error" }),
    "The gateway refused the key; check AI_GATEWAY_API_KEY.",
    401,
  ],
  [
    "a provider's error of two lines",
    httpError(529, { message: "Overloaded\n\u001B[31mtoday" }),
    "Overloaded today",
    529,
  ],
  [
    "an error that is not JSON",
    answer("<h1>", { status: 502, statusText: "Bad Gateway" }),
    "Bad Gateway (status 502)",
    502,
  ],
  [
    "an error that repeats the key",
    httpError(400, { message: `Bad header: Bearer ${plantedKey}` }),
    "Bad header: Bearer [secret]",
    400,
  ],
  [
    "a whole answer that is not JSON",
    answer("{", { headers: { "content-type": "application/json" } }),
    "Invalid JSON response (status 200)",
    null,
  ],
  [
    "an event that is not JSON",
    answer("data: {\n\n"),
    "The reply broke off: the model's service sent an event that is not JSON.",
    null,
  ],
];

test.each(failures)("gives the reason after %s", async (_situation, fetch, replyError, status) => {
  const { reply } = callFor([gatewayTarget(fetch)]);
  const { httpError, ...rest } = await reply;
  expect(rest).toMatchObject({ replyError, failure: null, end: null });
  expect(httpError?.status ?? null).toBe(status);
});

test("a rejected call costs nothing, a broken one is estimated", async () => {
  expect((await callFor([gatewayTarget(overloaded)]).reply).billedTokens).toBeNull();
  const cut = callFor([gatewayTarget(async () => replyStream(["four"], { isCut: true }))]);
  expect((await cut.reply).billedTokens).toEqual({
    usage: { ...noUsage, input: 5, output: 1 },
    isEstimate: true,
  });
  expect(blocksOf(cut.pieces)).toEqual(["four"]);
});

test("the words of a failure hold no part of a key", async () => {
  const failing = (part: string) =>
    httpError(429, { message: "no", code: `limit${part}` }, { "retry-after": `7${part}` });
  const redact = redactor(["key_of_letters_alone"]);
  const errorOf = async (part: string) =>
    (await callFor([gatewayTarget(failing(part))], { redact }).reply).httpError;
  expect(await errorOf("")).toEqual({ status: 429, code: "limit", retryAfter: "7" });
  expect(await errorOf("_of_letters")).toEqual({ status: 429, code: null, retryAfter: null });
});

test("throws the reason of the client that went away", async () => {
  const reason = new Error("gone");
  const fails = async () => Promise.reject(new TypeError("fetch failed"));
  const { reply } = callFor([gatewayTarget(fails)], { signal: AbortSignal.abort(reason) });
  await expect(reply).rejects.toBe(reason);
});

const usage = {
  inputTokens: { total: 30, noCache: 10, cacheRead: 20, cacheWrite: 0 },
  outputTokens: { total: 4, reasoning: 1 },
};
const counts = { input: 10, cacheRead: 20, cacheWrite: 0, output: 4, reasoning: 1 };

test("a streamed reply has its text, its tokens and the time in whole milliseconds", async () => {
  const { clock, advance } = testClock();
  const fetch: Fetch = async () => {
    await advance(234.6);
    return replyStream(["Hel", "lo!"], { usage });
  };
  const { reply, pieces } = callFor([gatewayTarget(fetch)], { clock });
  expect(await reply).toEqual({
    replyMs: 235,
    replyError: null,
    failure: null,
    httpError: null,
    end: { finishReason: "stop", usage: counts },
    billedTokens: { usage: counts, isEstimate: false },
  });
  expect(blocksOf(pieces)).toEqual(["Hello!"]);
});

test("a mark at the end of the events is no part", async () => {
  const finish = eventOf({ type: "finish", finishReason: { unified: "stop" } });
  const { reply } = callFor([gatewayTarget(answer(`${deltaOf("a")}${finish}data: [DONE]\n\n`))]);
  expect((await reply).replyError).toBeNull();
});

test("a gateway that answers with JSON is read as a whole", async () => {
  const content = [
    { type: "reasoning", text: "hm", providerMetadata: { anthropic: { signature: "sig" } } },
    { type: "text", text: "Hello!" },
    { type: "tool-call", toolCallId: "c", toolName: "look", input: '{"at":1}' },
  ];
  const body = { content, finishReason: { unified: "tool-calls" }, usage, warnings: [] };
  const { reply, pieces } = callFor([gatewayTarget(async () => Response.json(body))]);
  expect((await reply).end).toEqual({ finishReason: "tool-calls", usage: counts });
  expect(pieces).toMatchObject([
    { type: "reasoning", text: "hm" },
    { type: "reasoning", text: "", signature: { value: "sig" } },
    { type: "text", text: "Hello!" },
    { type: "toolCall", id: "c", name: "look", text: '{"at":1}' },
  ]);
});

test("of a chunk that crosses the limit of 16 MiB, the text up to the limit is passed on", async () => {
  const large = "a".repeat(9 * 1024 * 1024);
  const chunk = ["kept ", large, large, "late"].map(deltaOf).join("");
  const { reply, pieces } = callFor([gatewayTarget(answer(chunk))]);
  const { replyError } = await reply;
  expect(replyError).toBe("The reply was ended: it is over 16 MiB, the router's limit.");
  expect(blocksOf(pieces)[0] === `kept ${large}`).toBe(true);
});

test("a whole reply and an error are limited to 16 MiB, too", async () => {
  const large = JSON.stringify("a".repeat(17 * 1024 * 1024));
  const headers = { "content-type": "application/json" };
  for (const status of [200, 500]) {
    const { reply } = callFor([gatewayTarget(answer(large, { status, headers }))]);
    expect((await reply).replyError).toMatch(/16 MiB/);
  }
});

test("a reply whose connection ends early is broken", async () => {
  const { reply } = callFor([gatewayTarget(answer(deltaOf("half")))]);
  expect((await reply).replyError).toMatch(/^The reply broke off: the connection/);
});

test("a listener of the whole reply is called once, at its end, also if it broke off", async () => {
  const texts = ["a ", plantedKey.slice(0, 5), plantedKey.slice(5), " b"];
  const end = eventOf({ type: "finish", finishReason: { unified: "stop" } });
  for (const chunks of [[...texts.map(deltaOf), end], texts.map(deltaOf)]) {
    const body = ReadableStream.from(chunks.map((chunk) => Buffer.from(chunk)));
    const { reply, pieces } = callFor([gatewayTarget(answer(body))], { isWhole: true });
    expect((await reply).end === null).toBe(!chunks.includes(end));
    expect(pieces.map(({ text }) => text)).toEqual(["a [secret] b"]);
  }
});

test("no more of a reply is read until the client has taken a piece", async () => {
  const pulled: number[] = [];
  const chunks = ["a", "b", "c"].map(deltaOf);
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled.push(pulled.length);
        const chunk =
          chunks.shift() ?? eventOf({ type: "finish", finishReason: { unified: "stop" } });
        controller.enqueue(Buffer.from(chunk));
        if (pulled.length === 4) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const taken = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  const listener = async () => {
    first.resolve();
    await taken.promise;
  };
  const { reply } = callFor([gatewayTarget(answer(body))], { listener });
  await first.promise;
  expect(pulled).toHaveLength(1);
  taken.resolve();
  expect((await reply).replyError).toBeNull();
});

test("a reply that its listener ends costs its words, also if its service reported one token at its start", async () => {
  const meter = { ...newMeter(), reported: { ...noUsage, input: 10, output: 1 } };
  let words = 0;
  const listener = (part: unknown) => {
    words += JSON.stringify(part).split("word").length - 1;
    if (words > 500) throw new ReplyLimitError();
  };
  const fetch = async () => replyStream(Array.from({ length: 10 }, () => "word ".repeat(200)));
  const { end, billedTokens: billed } = await callFor([gatewayTarget(fetch)], { meter, listener })
    .reply;
  expect(end?.finishReason).toBe("length");
  expect(billed?.usage.output).toBeGreaterThan(500);
  expect(billed?.isEstimate).toBe(true);
});
