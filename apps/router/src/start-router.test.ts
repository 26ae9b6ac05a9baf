import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { readEvents } from "./testing/read-events.ts";
import { heldReply } from "./testing/reply-stream.ts";
import type { Answer, Differences } from "./testing/test-gateway.ts";
import { startTestRouter } from "./testing/start-test-router.ts";

async function start(differences: Differences = {}) {
  const router = await startTestRouter(differences);
  onTestFinished(() => router.close());
  return router;
}

/** Sends bytes as they are and gives the whole answer. */
async function exchange(origin: string, lines: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  await once(socket, "connect");
  socket.end(lines.join("\r\n"));
  return text(socket);
}

function get(host: string, ...headers: string[]): string[] {
  return ["GET / HTTP/1.1", `Host: ${host}`, "Connection: close", ...headers, "", ""];
}

test("answers on the address it says", async () => {
  const { origin } = await start();
  expect(await exchange(origin, get(new URL(origin).host))).toMatch(/^HTTP\/1\.1 200 /);
});

test("refuses a foreign Host and a foreign Origin on the wire", async () => {
  const { origin } = await start();
  const { host, port } = new URL(origin);
  const refused = [
    get("evil.example"),
    get(`evil.example:${port}`),
    get(host, "Origin: http://evil.example"),
    get(host, "Sec-Fetch-Site: cross-site"),
    ["GET http://evil.example/ HTTP/1.1", `Host: ${host}`, "Connection: close", "", ""],
  ];
  for (const lines of refused) {
    expect(await exchange(origin, lines)).toMatch(/^HTTP\/1\.1 403 /);
  }
});

test("refuses a request without a Host, or with two", async () => {
  const { origin } = await start();
  const { host } = new URL(origin);
  const answers = [
    await exchange(origin, ["GET / HTTP/1.1", "Connection: close", "", ""]),
    await exchange(origin, get("evil.example", `Host: ${host}`)),
  ];
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 (400|403) /);
});

function chatRequest(signal: AbortSignal): RequestInit {
  const headers = { "content-type": "application/json" };
  return { method: "POST", headers, body: '{"message":"hi"}', signal };
}

function chunkedChatRequest(signal: AbortSignal): RequestInit {
  const body = new Blob(['{"message":"hi"}']).stream();
  return { ...chatRequest(signal), body, duplex: "half" };
}

const doors = ["evaluation", "reply"] as const;
const bodies = { "with a length": chatRequest, chunked: chunkedChatRequest };
const situations = doors.flatMap((door) =>
  Object.entries(bodies).map(([kind, request]) => [door, kind, request] as const),
);

test.each(situations)(
  "ends the %s upstream when the client of a request %s goes away",
  async (door, _kind, request) => {
    const reached = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const hang: Answer = ({ signal }) => {
      signal.addEventListener("abort", () => ended.resolve());
      reached.resolve();
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    };
    const { origin, defects } = await start({ [door]: hang });
    const client = new AbortController();
    const answer = fetch(`${origin}/chat`, request(client.signal));
    await reached.promise;
    client.abort();
    await expect(answer).rejects.toThrow("aborted");
    await ended.promise;
    expect(defects).toEqual([]);
  },
);

test("closing lets an answer in flight finish, and takes no new connection", async () => {
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<Response>();
  const reply = () => {
    reached.resolve();
    return release.promise;
  };
  const { origin, close } = await startTestRouter({ reply });
  const answer = fetch(`${origin}/chat`, chatRequest(new AbortController().signal));
  await reached.promise;
  const closed = close();
  await expect(fetch(origin)).rejects.toThrow("fetch failed");
  release.resolve(Response.json({ error: { message: "too late" } }, { status: 400 }));
  expect(await (await answer).json()).toMatchObject({ tier: "nano", replyError: "too late" });
  await closed;
});

test("closing lets a stream in flight finish", async () => {
  const upstream = heldReply();
  const { origin, close } = await startTestRouter({ reply: upstream.answer });
  const headers = { "content-type": "application/json", accept: "text/event-stream" };
  const init = { ...chatRequest(new AbortController().signal), headers };
  const response = await fetch(`${origin}/chat`, init);
  const closed = close();
  upstream.send("at last");
  upstream.finish();
  const events = await readEvents(response);
  expect(events.at(-1)).toMatchObject({ event: "done", data: { reply: "at last" } });
  await closed;
});
