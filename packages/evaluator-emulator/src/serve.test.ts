import { execFile } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import type { Delivery } from "./call.ts";
import { createEmulator } from "./create-emulator.ts";
import { type Emulator, toEmulator } from "./serve.ts";

const nodeOwn = [globalThis.Request, globalThis.Response];
const emulators: Emulator[] = [];
function open(): Emulator {
  const emulator = createEmulator({ exchanges: [] });
  emulators.push(emulator);
  return emulator;
}
afterEach(async () => {
  await Promise.all(emulators.splice(0).map((emulator) => emulator.close()));
});

function getWithHost(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    outgoing.on("error", reject).end();
  });
}

test("gives both base URLs and answers there", async () => {
  const { origin, gatewayBaseUrl, directBaseUrl } = await open().listen();
  expect(origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(gatewayBaseUrl).toBe(`${origin}/v4/ai`);
  expect(directBaseUrl).toBe(`${origin}/direct`);
  expect((await fetch(`${origin}/v1/models`)).status).toBe(200);
});

test.each([
  ["localhost", 200],
  ["127.0.0.1", 200],
  ["[::1]", 200],
  ["evil.example", 403],
  ["127.0.0.1.evil.example", 403],
  ["localhost.evil.example", 403],
])("the host name %s gets %d", async (host, status) => {
  const { origin } = await open().listen();
  expect(await getWithHost(`${origin}/v1/models`, host)).toBe(status);
});

test("a taken port is a clear error, and the emulator can listen elsewhere after it", async () => {
  const { origin } = await open().listen();
  const port = Number(new URL(origin).port);
  const second = open();
  await expect(second.listen({ port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is taken`);
  expect((await second.listen()).origin).not.toBe(origin);
});

test("listens on loopback only", async () => {
  await expect(open().listen({ host: "0.0.0.0" })).rejects.toThrow("loopback");
});

test("closes and listens again", async () => {
  const emulator = open();
  const first = await emulator.listen();
  await expect(emulator.listen()).rejects.toThrow("already listens");
  await emulator.close();
  await expect(fetch(`${first.origin}/v1/models`)).rejects.toThrow("fetch failed");
  const second = await emulator.listen();
  expect((await fetch(`${second.origin}/v1/models`)).status).toBe(200);
});

test("closing ends a request that is still being sent", async () => {
  const emulator = open();
  const { origin } = await emulator.listen();
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write("POST /v1/systemone HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{");
  const ended = new Promise((resolve) => socket.once("close", resolve));
  expect((await fetch(`${origin}/v1/models`)).status).toBe(200);
  await emulator.close();
  expect(await ended).toBeDefined();
});

test("a body sent in chunks is read, and one over the limit is rejected", async () => {
  const { origin } = await open().listen();
  const chunks = [
    '{"model":"jev-latest","state":"hello",',
    '"questions":{"a":{"type":"score","criteria":["x"]}}}',
  ];
  const body = ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)));
  const chunked = { method: "POST", body, duplex: "half" } as const;
  expect((await fetch(`${origin}/v1/systemone`, chunked)).status).toBe(200);
  const large = { method: "POST", body: "x".repeat(33 * 1024 * 1024) };
  expect((await fetch(`${origin}/v1/systemone`, large)).status).toBe(413);
});

test("Node's own Request and Response stay in place", async () => {
  const { origin } = await open().listen();
  await fetch(`${origin}/v1/models`);
  expect([globalThis.Request, globalThis.Response]).toEqual(nodeOwn);
});

test("answers once in a program whose other server was there first", async () => {
  const program = `
    import { getRequestListener } from "@hono/node-server";
    getRequestListener(() => new Response()); // puts this library's Response into the globals
    const { createEmulator } = await import("evaluator-emulator");
    const emulator = createEmulator();
    const { origin } = await emulator.listen();
    const response = await fetch(origin + "/v1/models");
    console.log(response.status, Array.isArray((await response.json()).data));
    await emulator.close();
  `;
  const words = ["--input-type=module", "--eval", program];
  const run = promisify(execFile)(process.execPath, words, { cwd: import.meta.dirname });
  expect(await run).toEqual({ stdout: "200 true\n", stderr: "" });
});

test.each([
  ["abcdef", "application/json", "abc"],
  ["abcde", "application/json", "ab"],
  ["", "application/json", ""],
  ["one\n\ntwo\n\nthree\n\nfour\n\n", "text/event-stream", "one\n\ntwo\n\n"],
])("half of %j as %s is %j", async (body, contentType, half) => {
  const whole = new Response(body, { headers: { "content-type": contentType } });
  const answer = async (_request: Request, delivery: Delivery) => {
    delivery.ending = "cut";
    return whole;
  };
  const cut = await toEmulator(answer, () => {}).fetch("/");
  let received = "";
  const read = async () => {
    for await (const chunk of cut.body ?? []) received += Buffer.from(chunk).toString();
  };
  await expect(read()).rejects.toThrow("terminated");
  expect(received).toBe(half);
});
