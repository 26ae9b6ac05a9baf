import { expect, test } from "vitest";
import type { MessageRecord } from "../records/message-record.ts";
import { rawClient, rawRequest, sendRaw } from "../testing/raw-client.ts";
import { startTestRouter } from "../testing/test-router.ts";
import { hangingUpstream } from "../testing/upstreams.ts";

const json = "Content-Type: application/json";
const body = '{"message":"hi"}';
const length = `Content-Length: ${body.length}`;
const patiently = { timeout: 120_000 };
const calls = ["evaluation", "reply"] as const;

test.each(calls)(
  "while the %s hangs, others are answered when to come back, and leaving ends it",
  async (call) => {
    const upstream = hangingUpstream();
    const env = { ROUTER_MAX_CALLS: "1" };
    const { origin, host, defects } = await startTestRouter({ [call]: upstream.answer }, { env });
    const accept = "Accept: text/event-stream";
    const request = rawRequest("POST /chat", [`Host: ${host}`, json, length, accept], body);
    const first = await rawClient(origin, request);
    await upstream.reached;
    const busy = await sendRaw(origin, request);
    expect(busy).toMatch(/^HTTP\/1\.1 503 /);
    expect(busy).toMatch(/\r\nretry-after: 1\r\n/i);
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
    first.socket.destroy();
    await upstream.ended;
    const empty = rawRequest("POST /decide", [`Host: ${host}`, json, "Content-Length: 2"], "{}");
    await expect.poll(() => sendRaw(origin, empty), patiently).toMatch(/^HTTP\/1\.1 400 /); // the place is free
    expect(defects).toEqual([]);
  },
);

const init = { method: "POST", headers: { "content-type": "application/json" } };
const chat = "/chat";
const completions = "/v1/chat/completions";
const conversation = { model: "auto", messages: [{ role: "user", content: "hi" }] };
const events = { ...init.headers, accept: "text/event-stream" };
const stream = JSON.stringify({ ...conversation, stream: true });
const requests: { kind: string; path: string; request: () => RequestInit }[] = [
  { kind: "with a length", path: chat, request: () => ({ ...init, body }) },
  {
    kind: "in chunks",
    path: chat,
    request: () => ({ ...init, body: new Blob([body]).stream(), duplex: "half" }),
  },
  { kind: "for events", path: chat, request: () => ({ ...init, body, headers: events }) },
  {
    kind: "in OpenAI's form",
    path: completions,
    request: () => ({ ...init, body: JSON.stringify(conversation) }),
  },
  {
    kind: "for an OpenAI stream",
    path: completions,
    request: () => ({ ...init, body: stream }),
  },
];
const situations = calls.flatMap((call) => requests.map((asked) => ({ call, asked })));

test.each(situations)(
  "the $call ends when the client of a request $asked.kind goes away",
  async ({ call, asked: { path, request } }) => {
    const upstream = hangingUpstream();
    const { origin, defects } = await startTestRouter({ [call]: upstream.answer });
    const client = new AbortController();
    const answer = fetch(origin + path, { ...request(), signal: client.signal });
    const whole = answer.then((response) => response.text());
    await upstream.reached;
    client.abort();
    await expect(whole).rejects.toThrow("aborted");
    await upstream.ended;
    expect(defects).toEqual([]);
  },
);

test("a reply without end does not hold the router back from stopping, and is recorded", async () => {
  const upstream = hangingUpstream();
  const records: MessageRecord[] = [];
  const parts = {
    limits: { graceMs: 1 },
    observe: (record: MessageRecord) => records.push(record),
  };
  const { origin, host, close } = await startTestRouter({ reply: upstream.answer }, parts);
  const request = rawRequest("POST /chat", [`Host: ${host}`, json, length], body);
  const { received } = await rawClient(origin, request);
  await upstream.reached;
  await close();
  expect(records).toMatchObject([{ outcome: "stopped" }]);
  await upstream.ended;
  expect(await received).toBe("");
});
