import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import type { ServerLimits } from "./operations/server-limits.ts";
import { rawClient, rawRequest } from "./testing/raw-client.ts";
import { startTestRouter } from "./testing/start-test-router.ts";
import type { Answer, Differences } from "./testing/test-gateway.ts";

const impatient = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 10 };

interface Setup {
  readonly differences?: Differences;
  readonly limits?: Partial<ServerLimits>;
  readonly env?: Record<string, string>;
}

async function start({ differences = {}, limits = {}, env = {} }: Setup = {}) {
  const router = await startTestRouter(differences, { limits, env });
  onTestFinished(() => router.close());
  return { ...router, host: new URL(router.origin).host };
}

async function send(origin: string, bytes: string): Promise<string> {
  return (await rawClient(origin, bytes)).received;
}

const json = "Content-Type: application/json";
const body = '{"message":"hi"}';
const length = `Content-Length: ${body.length}`;

test("a foreign Host, Origin or site is refused on every door, and no model is asked", async () => {
  const { origin, host, seen } = await start();
  const foreign = [
    ["Host: evil.example"],
    [`Host: evil.example:${new URL(origin).port}`],
    [`Host: ${host}`, "Origin: http://evil.example"],
    [`Host: ${host}`, "Origin: null"],
    [`Host: ${host}`, "Sec-Fetch-Site: cross-site"],
  ];
  for (const door of ["/chat", "/decide", "/v1/chat/completions"]) {
    for (const headers of foreign) {
      const answer = await send(
        origin,
        rawRequest(`POST ${door}`, [...headers, json, length], body),
      );
      expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    }
  }
  expect(seen).toEqual([]);
});

test("a cross-site post that needs no permission is refused: text, forms, nothing", async () => {
  const { origin, host, seen } = await start();
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    const own = [`Host: ${host}`, `Content-Type: ${type}`, length];
    expect(await send(origin, rawRequest("POST /chat", own, body))).toMatch(/^HTTP\/1\.1 415 /);
    const foreign = [...own, "Origin: http://evil.example", "Sec-Fetch-Site: cross-site"];
    expect(await send(origin, rawRequest("POST /chat", foreign, body))).toMatch(/^HTTP\/1\.1 403 /);
  }
  expect(seen).toEqual([]);
});

const brokenBodies: [what: string, headers: string[], sent: string, status: number][] = [
  ["a length far over the limit", [json, "Content-Length: 10737418240"], body, 413],
  ["a length that is too short", [json, "Content-Length: 5"], body, 400],
  ["a negative length", [json, "Content-Length: -1"], body, 400],
  ["two lengths", [json, "Content-Length: 16", "Content-Length: 17"], body, 400],
  [
    "a length and chunks",
    [json, length, "Transfer-Encoding: chunked"],
    `10\r\n${body}\r\n0\r\n\r\n`,
    400,
  ],
  ["a chunk that is none", [json, "Transfer-Encoding: chunked"], `zz\r\n${body}`, 400],
  ["malformed JSON", [json, "Content-Length: 11"], '{"message":', 400],
  ["bytes that are no UTF-8 text", [json, "Content-Length: 2"], "\u0000\u0001", 400],
];

test.each(brokenBodies)("%s is refused, and the router goes on", async (...row) => {
  const [, headers, sent, status] = row;
  const { origin, host, seen, defects } = await start({ limits: impatient });
  const answer = await send(origin, rawRequest("POST /chat", [`Host: ${host}`, ...headers], sent));
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect((await fetch(origin)).status).toBe(200);
  expect({ seen, defects }).toEqual({ seen: [], defects: [] });
});

test("chunks beyond the limit are refused while they still come", async () => {
  const { origin, host, seen } = await start();
  const headers = [`Host: ${host}`, json, "Transfer-Encoding: chunked"];
  const { socket, received } = await rawClient(origin, rawRequest("POST /chat", headers));
  const chunk = `10000\r\n${"a".repeat(65_536)}\r\n`;
  for (let sent = 0; sent < 20; sent += 1) socket.write(chunk);
  const [first] = (await once(socket, "data")) as [string];
  socket.destroy();
  await received;
  expect(first).toMatch(/^HTTP\/1\.1 413 /);
  expect(seen).toEqual([]);
});

test("headers over 16 KiB are refused", async () => {
  const { origin, host } = await start();
  const headers = [`Host: ${host}`, `X-Long: ${"a".repeat(17_000)}`];
  expect(await send(origin, rawRequest("GET /", headers))).toMatch(/^HTTP\/1\.1 431 /);
});

test("nothing a client sends becomes a header of the answer", async () => {
  const { origin, host } = await start();
  const model = JSON.stringify({
    model: "auto\r\nx-evil: 1",
    messages: [{ role: "user", content: "hi\r\nx-evil: 1" }],
  });
  const own = [`Host: ${host}`, json];
  const answers = [
    await send(origin, rawRequest("GET /", [`Host: ${host}`, "X-Request-Id: a\n x-evil: 1"])),
    await send(origin, rawRequest("GET /", [`Host: ${host}`, "X-Request-Id: a\rx-evil: 1"])),
    await send(origin, rawRequest("GET /%0d%0ax-evil:%201", [`Host: ${host}`])),
    await send(
      origin,
      rawRequest("POST /v1/chat/completions", [...own, `Content-Length: ${model.length}`], model),
    ),
  ];
  for (const answer of answers) expect(answer.split("\r\n\r\n", 1)[0]).not.toMatch(/^x-evil/im);
  const strange = await send(origin, rawRequest("GET /", [`Host: ${host}`, "X-Request-Id: a;b"]));
  expect(strange).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/i);
});

const slow: [what: string, bytes: (host: string) => string][] = [
  ["says nothing", () => ""],
  ["does not finish its headers", (host) => `POST /chat HTTP/1.1\r\nHost: ${host}\r\nX-Slow: `],
  [
    "does not send the body it announced",
    (host) => rawRequest("POST /chat", [`Host: ${host}`, json, length], '{"mes'),
  ],
];

test.each(slow)("a client that %s is let go", async (_what, bytes) => {
  const { origin, host, seen, defects } = await start({ limits: impatient });
  expect(await send(origin, bytes(host))).toMatch(/^(HTTP\/1\.1 408 |$)/);
  expect({ seen, defects }).toEqual({ seen: [], defects: [] });
});

test("500 idle connections keep nobody out, and do not hold the router back from stopping", async () => {
  const router = await startTestRouter();
  const idle = await Promise.all(Array.from({ length: 500 }, () => rawClient(router.origin)));
  const headers = { "content-type": "application/json", connection: "close" };
  const answer = await fetch(`${router.origin}/chat`, { method: "POST", headers, body });
  expect(await answer.json()).toMatchObject({ tier: "nano", replyError: null });
  await router.close();
  await Promise.all(idle.map(({ received }) => received));
});

test("connections beyond the limit are closed unheard, and room comes back", async () => {
  const { origin, host } = await start({ limits: { maxConnections: 1 } });
  const { socket, received } = await rawClient(origin);
  const refused = rawRequest("GET /healthz", [`Host: ${host}`]);
  expect(await send(origin, refused)).toBe("");
  socket.destroy();
  await received;
  await expect.poll(() => send(origin, refused)).toMatch(/^HTTP\/1\.1 200 /);
});

function hangingUpstream() {
  const reached = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const answer: Answer = ({ signal }) => {
    signal.addEventListener("abort", () => ended.resolve());
    reached.resolve();
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  };
  return { answer, reached: reached.promise, ended: ended.promise };
}

test.each(["evaluation", "reply"] as const)(
  "while the %s upstream hangs, others are told when to come back, and leaving ends it",
  async (call) => {
    const upstream = hangingUpstream();
    const { origin, host, defects } = await start({
      differences: { [call]: upstream.answer },
      env: { ROUTER_MAX_CALLS: "1" },
    });
    const accept = "Accept: text/event-stream";
    const request = rawRequest("POST /chat", [`Host: ${host}`, json, length, accept], body);
    const first = await rawClient(origin, request);
    await upstream.reached;
    const busy = await send(origin, request);
    expect(busy).toMatch(/^HTTP\/1\.1 503 /);
    expect(busy).toMatch(/\r\nretry-after: 1\r\n/i);
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
    first.socket.destroy();
    await upstream.ended;
    const decide = () =>
      send(origin, rawRequest("POST /decide", [`Host: ${host}`, json, "Content-Length: 2"], "{}"));
    await expect.poll(decide).toMatch(/^HTTP\/1\.1 400 /); // the place is free again
    expect(defects).toEqual([]);
  },
);

test("a reply without end does not hold the router back from stopping", async () => {
  const upstream = hangingUpstream();
  const router = await startTestRouter({ reply: upstream.answer }, { limits: { graceMs: 1 } });
  const headers = [`Host: ${new URL(router.origin).host}`, json, length];
  const { received } = await rawClient(router.origin, rawRequest("POST /chat", headers, body));
  await upstream.reached;
  await router.close();
  await upstream.ended;
  expect(await received).toBe("");
});
