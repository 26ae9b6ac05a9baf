import { once } from "node:events";
import { expect, test } from "vitest";
import { rawClient, rawRequest, sendRaw } from "../testing/raw-client.ts";
import { startTestRouter } from "../testing/test-router.ts";

const json = "Content-Type: application/json";
const body = '{"message":"hi"}';
const length = `Content-Length: ${body.length}`;

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

const paths = ["/chat", "/v1/chat/completions", "/v1/responses", "/v1/messages"];
const rows = brokenBodies.flatMap(([what, headers, sent, status]) =>
  paths.map((path) => ({ what, path, headers, sent, status })),
);

test.each(rows)("$what is rejected at $path, and the router goes on", async (row) => {
  const { path, headers, sent, status } = row;
  const { origin, host, seen, defects } = await startTestRouter();
  const request = rawRequest(`POST ${path}`, [`Host: ${host}`, ...headers], sent);
  expect(await sendRaw(origin, request)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect((await fetch(origin)).status).toBe(200);
  expect({ seen, defects }).toEqual({ seen: [], defects: [] });
});

test("chunks beyond the limit are rejected while they still come", async () => {
  const { origin, host, seen } = await startTestRouter();
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

test("headers over 16 KiB are rejected", async () => {
  const { origin, host } = await startTestRouter();
  const headers = [`Host: ${host}`, `X-Long: ${"a".repeat(17_000)}`];
  expect(await sendRaw(origin, rawRequest("GET /", headers))).toMatch(/^HTTP\/1\.1 431 /);
});

test("nothing a client sends becomes a header of the answer", async () => {
  const { origin, host } = await startTestRouter();
  const own = [`Host: ${host}`];
  const question = JSON.stringify({
    model: "auto\r\nx-evil: 1",
    messages: [{ role: "user", content: "hi\r\nx-evil: 1" }],
  });
  const asked = [...own, json, `Content-Length: ${question.length}`];
  const requests = [
    rawRequest("GET /", [...own, "X-Request-Id: a\n x-evil: 1"]),
    rawRequest("GET /", [...own, "X-Request-Id: a\rx-evil: 1"]),
    rawRequest("GET /%0d%0ax-evil:%201", own),
    rawRequest("POST /v1/chat/completions", asked, question),
  ];
  for (const request of requests) {
    const [head] = (await sendRaw(origin, request)).split("\r\n\r\n", 1);
    expect(head).toMatch(/^HTTP\/1\.1 /);
    expect(head).not.toMatch(/^x-evil/im);
  }
  const strange = await sendRaw(origin, rawRequest("GET /", [...own, "X-Request-Id: a;b"]));
  expect(strange).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/i);
});
