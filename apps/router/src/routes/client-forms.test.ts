import { connect } from "node:net";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { post } from "../testing/api-forms.ts";
import { startTestRouter, testRouter } from "../testing/test-router.ts";

const path = "/v1/chat/completions";
const body = { model: "nano", messages: [{ role: "user", content: "hi" }] };

function packed(encoding: string, bytes: Uint8Array<ArrayBuffer>): RequestInit {
  const headers = { "content-type": "application/json", "content-encoding": encoding };
  return { method: "POST", headers, body: bytes };
}

const json = Buffer.from(JSON.stringify(body));
const wide = JSON.stringify({ ...body, pad: "a".repeat(8 * 1024 * 1024) });

describe("a packed body", () => {
  test.each([
    ["gzip", gzipSync(json)],
    ["zstd", zstdCompressSync(json)],
    ["ZSTD", zstdCompressSync(json)],
  ])("of %s is unpacked", async (encoding, bytes) => {
    const { request } = await testRouter();
    const response = await request(path, packed(encoding, Buffer.from(bytes)));
    expect(response.status).toBe(200);
  });

  test.each([
    ["that grows a thousandfold", 413, "gzip", gzipSync(wide)],
    ["of an unknown encoding", 415, "compress", json],
    ["of another encoding than its header's", 400, "zstd", json],
  ])("%s gets %i", async (_situation, status, encoding, bytes) => {
    const { request, seen } = await testRouter();
    const response = await request(path, packed(encoding, Buffer.from(bytes)));
    expect([response.status, seen]).toEqual([status, []]);
  });
});

test.each([`/${path}`, `${path}/`, "/v1//chat/completions", `/api${path}`, `/openai${path}`])(
  "the address %s is understood",
  async (address) => {
    const { request } = await testRouter();
    expect((await request(address, post(body))).status).toBe(200);
  },
);

test("an upgrade of /v1/responses to a websocket gets 426", async () => {
  const { request } = await testRouter();
  const response = await request("/v1/responses", { headers: { upgrade: "websocket" } });
  expect([response.status, response.headers.get("upgrade")]).toEqual([426, "HTTP/1.1"]);
});

test("a client of HTTP/1.0 gets a stream without chunks", async () => {
  const { host } = await startTestRouter();
  const [hostname, port] = host.split(":");
  const socket = connect(Number(port), hostname);
  const sent = JSON.stringify({ ...body, stream: true });
  const head = `Host: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${sent.length}`;
  socket.write(`POST ${path} HTTP/1.0\r\n${head}\r\n\r\n${sent}`);
  const answer = (await socket.setEncoding("utf8").toArray()).join("");
  expect(answer).not.toMatch(/transfer-encoding/i);
  expect(answer).toMatch(/\r\n\r\ndata: \{[^]*\n\ndata: \[DONE\]\n\n$/);
});
