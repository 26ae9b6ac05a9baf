import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { MessageRecord } from "../records/message-record.ts";
import { parseRouterOptions } from "../router-options.ts";
import { apiForms, post } from "../testing/api-forms.ts";
import { heldReply } from "../testing/reply-stream.ts";
import { testRouter } from "../testing/test-router.ts";

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Asks for a stream whose reply a test sends, and keeps what arrives with its time in seconds. */
async function openReply(
  { path, ask }: (typeof apiForms)[number],
  env: Record<string, string> = {},
) {
  const { answer, reached, send, finish } = heldReply();
  const records: MessageRecord[] = [];
  const observe = (record: MessageRecord) => void records.push(record);
  const parts = { ...parseRouterOptions(env), observe };
  const { request } = await testRouter({ reply: answer }, parts);
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1000);
  const received: { readonly text: string; readonly at: number }[] = [];
  const arrives = async () => {
    const response = await request(path, post(ask(["hi"], { stream: true })));
    received.push({ text: `status ${response.status}`, at: seconds() });
    const body = response.body?.pipeThrough(new TextDecoderStream()) ?? new ReadableStream();
    for await (const text of body) received.push({ text, at: seconds() });
  };
  const whole = arrives();
  await reached;
  return { send, finish, whole, received, records };
}

const wait = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);

describe.each(apiForms)("$path", (form) => {
  test("a reply of ten minutes arrives, with a comment after each ten seconds", async () => {
    const { send, finish, whole, received, records } = await openReply(form);
    for (let piece = 1; piece <= 6; piece += 1) {
      await wait(100);
      send(`piece ${piece} `);
      await wait(0);
    }
    finish();
    await whole;
    expect(received[0]).toEqual({ text: "status 200", at: 10 });
    const pings = received.filter(({ text }) => text === ": ping\n\n").map(({ at }) => at);
    expect(pings).toEqual(Array.from({ length: 60 }, (_, index) => 10 * (index + 1)));
    const text = received.map((each) => each.text).join("");
    const pieces = [1, 2, 3, 4, 5, 6].filter((piece) => text.includes(`piece ${piece} `));
    expect(pieces).toHaveLength(6);
    expect(records).toMatchObject([{ outcome: "replied", failure: null, replyMs: 600_000 }]);
  });

  test("without a time for comments, nothing is sent before the first piece", async () => {
    const { send, finish, whole, received } = await openReply(form, { ROUTER_PING_MS: "0" });
    await wait(100);
    expect(received).toEqual([]);
    send("at last");
    await wait(100);
    finish();
    await whole;
    expect(received[0]).toEqual({ text: "status 200", at: 100 });
    expect(received.map(({ text }) => text).join("")).not.toContain("ping");
  });

  test("a model that is silent for too long ends the stream with an error", async () => {
    const { whole, received, records } = await openReply(form);
    await wait(120);
    await whole;
    expect(received[0]).toEqual({ text: "status 200", at: 10 });
    expect(received.at(-1)).toEqual({ text: expect.stringContaining("for too long"), at: 120 });
    const text = received.map((each) => each.text).join("");
    const last = { chat: "data: ", responses: "event: response.failed", messages: "event: error" };
    expect(text.split("\n\n").at(-2)).toContain(last[form.name]);
    expect(text).not.toContain("[DONE]");
    expect(records).toMatchObject([{ outcome: "reply-failed", failure: "idle-timeout" }]);
  });

  test("the limit for the whole reply holds for one that goes on", async () => {
    const env = { ROUTER_REPLY_TIMEOUT_MS: "150000" };
    const { send, whole, received, records } = await openReply(form, env);
    for (const piece of ["one ", "two "]) {
      send(piece);
      await wait(100);
    }
    await whole;
    expect(received.at(-1)).toEqual({ text: expect.stringContaining("took too long"), at: 150 });
    expect(records).toMatchObject([{ outcome: "reply-failed", failure: "timeout" }]);
  });
});
