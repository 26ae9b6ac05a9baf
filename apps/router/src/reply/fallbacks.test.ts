import { expect, test } from "vitest";
import { blocksOf, callFor, gatewayTarget } from "../testing/reply-calls.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { testClock } from "../testing/test-clock.ts";
import type { ReplyOptions } from "./generate-reply.ts";
import { newMeter } from "./usage.ts";

type Fetch = typeof globalThis.fetch;

const failing =
  (status: number, headers: Record<string, string> = {}): Fetch =>
  async () =>
    Response.json({ error: { message: `status ${status}` } }, { status, headers });
const unreachable: Fetch = async () =>
  Promise.reject(new TypeError("fetch failed", { cause: new Error("refused") }));
const works: Fetch = async () => replyStream(["fine"]);
const breaks: Fetch = async () => replyStream(["half"], { isCut: true });

/** Asks two targets, of which the second works. */
function callAfter(first: Fetch, onEnd: ReplyOptions["onEnd"] = () => undefined) {
  const causes: [model: string, cause: string | null][] = [];
  const onNext: NonNullable<ReplyOptions["onNext"]> = async ({ model }, { cause }) =>
    causes.push([model, cause]) > 0;
  const targets = [gatewayTarget(first, "a/first"), gatewayTarget(works, "a/second")] as const;
  return { ...callFor([...targets], { onNext, onEnd }), causes };
}

test.each([
  [402, "model-refused"],
  [403, "model-refused"],
  [404, "model-refused"],
  [405, "model-refused"],
  [408, "model-failed"],
  [409, "model-failed"],
  [413, "model-refused"],
  [424, "model-failed"],
  [429, "model-refused"],
  [500, "model-failed"],
  [529, "model-failed"],
])("after status %i the next target is asked: %s", async (status, cause) => {
  const { reply, causes, pieces } = callAfter(failing(status));
  expect((await reply).replyError).toBeNull();
  expect(causes).toEqual([["a/second", cause]]);
  expect(blocksOf(pieces)).toEqual(["fine"]);
});

test.each([
  ["a reply that breaks off at once", async () => replyStream([], { isCut: true }), "model-failed"],
  [
    "an error as the whole body",
    async () => Response.json({ error: { message: "x" } }),
    "model-failed",
  ],
  [
    "a page",
    async () => new Response("<html>", { headers: { "content-type": "text/html" } }),
    "model-failed",
  ],
  ["an empty body", async () => new Response(null), "model-failed"],
] as [string, Fetch, string][])(
  "after %s the next target is asked",
  async (_what, first, cause) => {
    const { reply, causes, pieces } = callAfter(first);
    expect((await reply).replyError).toBeNull();
    expect([causes, blocksOf(pieces)]).toEqual([[["a/second", cause]], ["fine"]]);
  },
);

test.each([
  "The prompt is too long: 210000 tokens > 200000 maximum",
  "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
  "This model's maximum context length is 8192 tokens.",
  "The input token count (40000) exceeds the maximum number of tokens allowed (32768).",
  "Input is too long for requested model.",
  "the request exceeds the available context size. try increasing the context size",
  "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
  "Please reduce the length of the messages or completion.",
  "too many tokens: the prompt cannot exceed 8192 tokens",
])("after status 400 with %j a model with more room is asked", async (message) => {
  const first: Fetch = async () => Response.json({ error: { message } }, { status: 400 });
  const ends: unknown[] = [];
  const { reply, causes } = callAfter(first, (_, failed) => ends.push(failed));
  expect((await reply).replyError).toBeNull();
  expect(causes).toEqual([["a/second", "model-refused"]]);
  expect(ends).toMatchObject([
    { isOfRequest: true, httpError: { code: "context_length_exceeded" } },
    null,
  ]);
});

test.each([
  "Your credit balance is too low to access the Anthropic API.",
  "API key not valid. Please pass a valid API key.",
  "The model `llama-2` has been decommissioned and is no longer supported.",
  "The model `gemma:2b` does not support tools",
  "Unsupported parameter: 'max_tokens' is not supported with this model.",
])("after status 400 with %j another model is asked", async (message) => {
  const first: Fetch = async () => Response.json({ error: { message } }, { status: 400 });
  const { reply, causes } = callAfter(first);
  expect((await reply).replyError).toBeNull();
  expect(causes).toEqual([["a/second", "model-refused"]]);
});

test("a model whose window is not longer is passed over after a context that is too long", async () => {
  const tooLong: Fetch = async () =>
    Response.json({ error: { message: "The prompt is too long" } }, { status: 400 });
  const withWindow = (fetch: Fetch, model: string, contextWindow?: number) => ({
    ...gatewayTarget(fetch, model),
    capabilities: contextWindow === undefined ? {} : { contextWindow },
  });
  const causes: string[] = [];
  const onNext: NonNullable<ReplyOptions["onNext"]> = async ({ model }) => causes.push(model) > 0;
  const targets = [
    withWindow(tooLong, "a/first", 8000),
    withWindow(works, "a/same", 8000),
    withWindow(works, "a/longer", 16_000),
  ] as const;
  expect((await callFor([...targets], { onNext }).reply).replyError).toBeNull();
  expect(causes).toEqual(["a/longer"]);
});

test("a limit of tokens in a minute is no context that is too long", async () => {
  const message = "Request too large: too many tokens, limit 30000 in a minute.";
  const fails: Fetch = async () => Response.json({ error: { message } }, { status: 429 });
  const { httpError } = await callFor([gatewayTarget(fails)], { plan: { maxRetries: 0 } }).reply;
  expect(httpError).toMatchObject({ status: 429, code: null });
});

test("after status 401 another service is asked, which has another key", async () => {
  const { upstream, ...target } = gatewayTarget(works, "a/second");
  const next = { ...target, upstream: { ...upstream, name: "other" } };
  const same = gatewayTarget(failing(500), "a/same");
  const { reply, pieces } = callFor([gatewayTarget(failing(401), "a/first"), same, next]);
  expect((await reply).replyError).toBeNull();
  expect(blocksOf(pieces)).toEqual(["fine"]);
});

test("a service that cannot be reached is followed by the next", async () => {
  const { reply, causes } = callAfter(unreachable);
  expect((await reply).replyError).toBeNull();
  expect(causes).toEqual([["a/second", "model-failed"]]);
});

test.each([
  ["ECONNRESET", true],
  ["UND_ERR_SOCKET", true],
  ["ECONNREFUSED", false],
  ["ENOTFOUND", false],
  ["UND_ERR_CONNECT_TIMEOUT", false],
  ["ERR_TLS_CERT_ALTNAME_INVALID", false],
  ["CERT_HAS_EXPIRED", false],
])("a call that ends with %s may be billedTokens: %s", async (code, maybeBilled) => {
  const cause = Object.assign(new Error("lost"), { code });
  const fails: Fetch = () => Promise.reject(new TypeError("fetch failed", { cause }));
  const { billedTokens: billed } = await callFor([gatewayTarget(fails)], {
    plan: { maxRetries: 0 },
  }).reply;
  expect(billed !== null).toBe(maybeBilled);
});

test.each([400, 401, 422])("after status %i no other target is asked", async (status) => {
  const { reply, causes } = callAfter(failing(status));
  expect((await reply).httpError?.status).toBe(status);
  expect(causes).toEqual([]);
});

test("a target that fails after its first piece is not followed by another", async () => {
  const { reply, causes, pieces } = callAfter(breaks);
  expect((await reply).replyError).toBe("The reply broke off: The provider went away.");
  expect(causes).toEqual([]);
  expect(blocksOf(pieces)).toEqual(["half"]);
});

/** Counts the attempts at one target, and the time of each. */
function retried(answers: Fetch[], { maxRetries = 2, timeoutMs = 0 } = {}) {
  const { clock, advance, waiting } = testClock();
  const askedAtMs: number[] = [];
  const fetch: Fetch = (...given) => {
    askedAtMs.push(clock.now());
    return (answers[askedAtMs.length - 1] ?? works)(...given);
  };
  const plan = { maxRetries, timeoutMs };
  const call = callFor([gatewayTarget(fetch)], { clock, random: () => 0.5, plan });
  return { ...call, advance, askedAtMs, waiting };
}

test("a temporary failure of the last target is asked again, later each time", async () => {
  const { reply, advance, askedAtMs, waiting } = retried([failing(529), unreachable]);
  await advance(10_000);
  expect((await reply).replyError).toBeNull();
  expect(askedAtMs).toEqual([0, 1500, 4500]);
  expect(waiting()).toBe(0);
});

const waits: [header: Record<string, string>, secondAtMs: number][] = [
  [{ "retry-after": "7" }, 7000],
  [{ "retry-after-ms": "0" }, 0],
  [{ "retry-after": new Date(Date.UTC(2026, 10, 24) + 9000).toUTCString() }, 9000],
];

test.each(waits)("the wait of %o is kept", async (headers, secondAtMs) => {
  const { reply, advance, askedAtMs } = retried([failing(429, headers)]);
  await advance(20_000);
  expect((await reply).replyError).toBeNull();
  expect(askedAtMs).toEqual([0, secondAtMs]);
});

const finals: [situation: string, ReturnType<typeof retried>][] = [
  ["with a wait of an hour", retried([failing(429, { "retry-after": "3600" })])],
  ["that is no temporary one", retried([failing(400)])],
  ["without retries", retried([failing(503)], { maxRetries: 0 })],
  ["after the first piece", retried([breaks])],
  ["with too little time left", retried([failing(503)], { timeoutMs: 1000 })],
];

test.each(finals)("a failure %s is the end", async (_situation, { reply, askedAtMs, waiting }) => {
  expect((await reply).replyError).not.toBeNull();
  expect(askedAtMs).toEqual([0]);
  expect(waiting()).toBe(0);
});

test("after all retries the last failure is reported", async () => {
  const { reply, advance, askedAtMs } = retried([failing(503), failing(503), failing(500)]);
  await advance(60_000);
  expect(await reply).toMatchObject({ replyError: "status 500", httpError: { status: 500 } });
  expect(askedAtMs).toHaveLength(3);
});

test("a client that goes away ends the wait", async () => {
  const { clock, advance, waiting } = testClock();
  const controller = new AbortController();
  const { signal } = controller;
  const meter = newMeter();
  const { reply } = callFor([gatewayTarget(failing(503))], {
    clock,
    signal,
    meter,
    plan: { maxRetries: 1 },
  });
  const thrown = reply.catch((error: unknown) => error);
  await advance(100);
  const reason = new Error("gone");
  controller.abort(reason);
  expect(await thrown).toBe(reason);
  expect(waiting()).toBe(0);
  expect(meter.isSent).toBe(false); // so that no call is paid for
});
