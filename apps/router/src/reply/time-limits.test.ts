import { expect, test } from "vitest";
import { blocksOf, callFor, gatewayTarget } from "../testing/reply-calls.ts";
import { deltaOf, eventOf, replyStream } from "../testing/reply-stream.ts";
import { testClock } from "../testing/test-clock.ts";

type Fetch = typeof globalThis.fetch;

/** Returns an answer whose body is sent by the test. */
function slowAnswer() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const fetch: Fetch = async (_input, init) => {
    init?.signal?.addEventListener("abort", () => void writer.abort(init.signal?.reason));
    return new Response(readable, { headers: { "content-type": "text/event-stream" } });
  };
  const send = (text: string) => void writer.write(Buffer.from(text)).catch(() => undefined);
  const end = () => {
    send(eventOf({ type: "finish", finishReason: { unified: "stop" }, usage: {} }));
    void writer.close().catch(() => undefined);
  };
  return { fetch, send, end };
}

const hangs: Fetch = (_input, init) =>
  new Promise((_, reject) => {
    init?.signal?.addEventListener("abort", () => reject(init.signal?.reason as Error));
  });

const tooQuiet = {
  replyError: "The reply model sent nothing for too long; try again later.",
  failure: "idle-timeout",
  httpError: { status: 504, code: null, retryAfter: null },
  end: null,
};

test("a service that never answers ends at the idle limit", async () => {
  const { clock, advance, waiting } = testClock();
  const { reply } = callFor([gatewayTarget(hangs)], { clock, plan: { idleTimeoutMs: 1000 } });
  await advance(1000);
  expect(await reply).toMatchObject({ ...tooQuiet, replyMs: 1000 });
  expect(waiting()).toBe(0);
});

test("a silent target is followed by the next", async () => {
  const { clock, advance } = testClock();
  const targets = [gatewayTarget(hangs), gatewayTarget(async () => replyStream(["fine"]))] as const;
  const { reply, pieces } = callFor([...targets], { clock, plan: { idleTimeoutMs: 1000 } });
  await advance(1000);
  expect((await reply).replyError).toBeNull();
  expect(blocksOf(pieces)).toEqual(["fine"]);
});

test("silence between pieces ends at the idle limit, without another target", async () => {
  const { clock, advance } = testClock();
  const { fetch, send } = slowAnswer();
  const targets = [gatewayTarget(fetch), gatewayTarget(async () => replyStream(["fine"]))] as const;
  const { reply, pieces } = callFor([...targets], { clock, plan: { idleTimeoutMs: 1000 } });
  await advance(900);
  send(deltaOf("a"));
  await advance(999);
  send(eventOf({ type: "reasoning-delta", id: "1", delta: "b" }));
  await advance(999);
  send(": ping\n\n");
  await advance(1);
  expect(await reply).toMatchObject({ ...tooQuiet, replyMs: 2899 });
  expect(blocksOf(pieces)).toEqual(["a", "b"]);
});

test("a reply of ten minutes arrives, and leaves no timer", async () => {
  const { clock, advance, waiting } = testClock();
  const { fetch, send, end } = slowAnswer();
  const plan = { idleTimeoutMs: 120_000 };
  const { reply, pieces } = callFor([gatewayTarget(fetch)], { clock, plan });
  for (let minute = 0; minute < 10; minute += 1) {
    await advance(60_000);
    send(deltaOf(`${minute} `));
  }
  end();
  await advance(0);
  expect(await reply).toMatchObject({ replyError: null, replyMs: 600_000 });
  expect(blocksOf(pieces)).toEqual(["0 1 2 3 4 5 6 7 8 9 "]);
  expect(waiting()).toBe(0);
});

test("the total limit ends a reply that goes on, without another target", async () => {
  const { clock, advance } = testClock();
  const { fetch, send } = slowAnswer();
  const targets = [gatewayTarget(fetch), gatewayTarget(async () => replyStream(["fine"]))] as const;
  const { reply } = callFor([...targets], { clock, plan: { idleTimeoutMs: 500, timeoutMs: 1000 } });
  for (let times = 0; times < 4; times += 1) {
    send(deltaOf("a"));
    await advance(300);
  }
  expect(await reply).toMatchObject({
    replyError: "The reply model took too long; try again later.",
    failure: "timeout",
    httpError: { status: 504 },
    replyMs: 1000,
  });
});

test("a client that reads slowly is no silence", async () => {
  const { clock, advance } = testClock();
  const { fetch, send, end } = slowAnswer();
  const taken = Promise.withResolvers<void>();
  const listener = () => taken.promise;
  const plan = { idleTimeoutMs: 1000 };
  const { reply } = callFor([gatewayTarget(fetch)], { clock, plan, listener });
  send(deltaOf("a"));
  await advance(60_000);
  taken.resolve();
  end();
  await advance(0);
  expect((await reply).replyError).toBeNull();
});
