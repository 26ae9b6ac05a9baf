import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { deflateSync, gzipSync } from "node:zlib";
import { Agent } from "undici";
import { describe, expect, test } from "vitest";
import { EvaluatorError } from "../errors.ts";
import {
  httpResponse,
  type Listen,
  listenOnSocket,
  type Respond,
  servers,
  type SocketServer,
} from "../testing/socket-server.ts";

import { fetchHttpClient, type HttpClient } from "./http-client.ts";
import { findHeader, type HttpResponse, MAX_BODY_BYTES } from "./http-response.ts";
import { createHttpClient } from "./undici-http-client.ts";

const undici = createHttpClient({ env: {} });
const clients: [string, HttpClient][] = [
  ["undici", undici],
  ["fetch", fetchHttpClient((url, init) => fetch(url, init))],
];
const ways = clients.flatMap(([client, http]) =>
  servers.map(([server, listen]): [string, HttpClient, Listen] => [
    `${client} ${server}`,
    http,
    listen,
  ]),
);
const failedTooLarge = httpResponse(500, new Uint8Array(MAX_BODY_BYTES + 1));

async function exchange(
  http: HttpClient,
  respond: Respond,
  listen: Listen = listenOnSocket,
): Promise<HttpResponse> {
  await using server = await listen(respond);
  return await post(http, server);
}

function post(http: HttpClient, server: Pick<SocketServer, "origin">, signal?: AbortSignal) {
  const url = `${server.origin}/path`;
  const headers = { "Content-Type": "application/json" };
  const send = http.prepare({ method: "POST", url, headers });
  return send('{"state":"text"}', { signal: signal ?? new AbortController().signal });
}

async function failureOf(
  http: HttpClient,
  respond: Respond,
  listen: Listen = listenOnSocket,
): Promise<EvaluatorError> {
  const outcome = await exchange(http, respond, listen).catch((error: unknown) => error);
  if (outcome instanceof EvaluatorError) return outcome;
  throw new Error("expected an EvaluatorError", { cause: outcome });
}

describe.each(ways)("%s", (_, http, listen) => {
  test("reads a whole response", async () => {
    const body = httpResponse(200, '{"é":"🙂"}', { "X-Request-Id": "r1" });
    const respond: Respond = (socket) => {
      // Cut inside a character, so that decoding chunk by chunk would break it.
      socket.write(body.subarray(0, body.length - 4));
      // One turn later the client has read the first part.
      setImmediate(() => setImmediate(() => socket.write(body.subarray(body.length - 4))));
    };
    const response = await exchange(http, respond, listen);
    expect(response.status).toBe(200);
    expect(response.text).toBe('{"é":"🙂"}');
    expect(findHeader(response, "x-request-id")).toBe("r1");
    expect(findHeader(response, "x-missing")).toBeNull();
  });

  test.each([
    ["gzip", gzipSync("{}")],
    ["deflate", deflateSync("{}")],
    ["identity", Buffer.from("{}")],
  ])("decodes %s", async (coding, bytes) => {
    const body = httpResponse(200, bytes, { "Content-Encoding": coding });
    expect(await exchange(http, (socket) => socket.write(body), listen)).toMatchObject({
      text: "{}",
    });
  });

  test("follows no redirect", async () => {
    const body = httpResponse(307, "", { Location: "http://127.0.0.1:9/elsewhere" });
    expect(await exchange(http, (socket) => socket.write(body), listen)).toMatchObject({
      status: 307,
    });
  });

  test("keeps an error status whose body is cut off", async () => {
    const body = httpResponse(401, '{"error":', { "Content-Length": "500" });
    const response = await exchange(http, (socket) => socket.end(body), listen);
    expect(response).toMatchObject({ status: 401, text: "" });
  });

  test.each<[string, Respond]>([
    ["a reset before the response", (socket) => socket.resetAndDestroy()],
    ["a close before the response", (socket) => socket.end()],
    ["a cut body", (socket) => socket.end(httpResponse(200, "{", { "Content-Length": "500" }))],
    [
      "a reset in the body",
      (socket) =>
        socket.write(httpResponse(200, "{", { "Content-Length": "500" }), () =>
          setImmediate(() => socket.resetAndDestroy()),
        ),
    ],
  ])("calls %s a connection error that may be billed and retried", async (_name, respond) => {
    expect(await failureOf(http, respond, listen)).toMatchObject({
      name: "ConnectionError",
      maybeBilled: true,
      isRetryable: true,
    });
  });

  test("calls a refused connection one that cannot have been billed", async () => {
    const server = await listen(() => undefined);
    await server[Symbol.asyncDispose]();
    const error: unknown = await post(http, server).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ConnectionError", maybeBilled: false, isRetryable: true });
    expect(error).toHaveProperty("message", expect.stringContaining("ECONNREFUSED"));
  });

  test("keeps an error status whose body is over the limit", async () => {
    const response = await exchange(http, (socket) => socket.write(failedTooLarge), listen);
    expect(response).toMatchObject({ status: 500, text: "" });
  });

  test("waits for the response after one that only informs", async () => {
    const body = httpResponse(200, "{}");
    const respond: Respond = (socket) => {
      socket.write("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n");
      socket.write(body);
    };
    const response = await exchange(http, respond, listen);
    expect(response).toMatchObject({ status: 200, text: "{}" });
    expect(findHeader(response, "link")).toBeNull();
  });

  test("sends nothing after an abort", async () => {
    await using server = await listen((socket) => socket.write(httpResponse(200, "{}")));
    await expect(post(http, server, AbortSignal.abort("enough"))).rejects.toBe("enough");
    expect(await post(http, server)).toMatchObject({ text: "{}" });
    expect(server.requests).toHaveLength(1);
    expect(server.connections).toBe(1);
  });

  test("throws the reason of an abort, in the head and in the body", async () => {
    for (const sent of ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"]) {
      const controller = new AbortController();
      const reason = { why: "enough" };
      await using server = await listen((socket) => {
        socket.write(sent);
        setImmediate(() => controller.abort(reason));
      });
      await expect(post(http, server, controller.signal)).rejects.toBe(reason);
    }
  });
});

const interim: [string, readonly string[]][] = [
  ["at once with the answer", ["HTTP/1.1 100 Continue\r\n\r\n"]],
  ["twice, with a header", ["HTTP/1.1 100 Go on\r\nX-A: b\r\n\r\n", "HTTP/1.1 100 X\r\n\r\n"]],
  ["in two parts", ["HTTP/1.1 100 Cont", "inue\r\n\r\n"]],
];
const waysPastContinue: [string, () => HttpClient][] = [
  ["undici", () => createHttpClient({ env: {} })],
  ["a dispatcher of the caller's", () => createHttpClient({ env: {}, dispatcher: new Agent() })],
  ["fetch", () => createHttpClient({ env: {}, fetch: (url, init) => fetch(url, init) })],
];

describe.each(waysPastContinue)("%s", (_, create) => {
  test.each(
    servers.flatMap(([name, listen]) =>
      interim.map(([when, parts]) => [name, when, parts, listen] as const),
    ),
  )("%s: passes over a Continue that comes %s", async (_server, _when, parts, listen) => {
    const text = '{"a":"HTTP/1.1 100 Continue"}';
    const body = httpResponse(200, text);
    const http = create();
    await using server = await listen((socket) => void answer(socket));
    const answer = async (socket: Socket) => {
      for (const part of parts) {
        socket.write(part);
        for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      }
      socket.write(body);
    };
    for (let call = 0; call < 3; call += 1) {
      expect(await post(http, server)).toMatchObject({ status: 200, text });
      await nextTurn();
    }
    expect(server.connections).toBe(1);
    await http.close();
  });
});

test.each([
  ["gzip that is none", "gzip", Buffer.from("plain")],
  ["gzip that is cut off", "gzip", gzipSync("x".repeat(1000)).subarray(0, 20)],
  ["an unknown coding", "rot13", Buffer.from("{}")],
])("undici: calls %s undecodable", async (_, coding, bytes) => {
  const body = httpResponse(200, bytes, { "Content-Encoding": coding });
  expect(await failureOf(undici, (socket) => socket.write(body))).toMatchObject({
    name: "ConnectionError",
    maybeBilled: true,
    isRetryable: true,
  });
});
