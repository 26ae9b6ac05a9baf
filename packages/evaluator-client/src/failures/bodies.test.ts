import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { MAX_BODY_BYTES } from "../http/http-response.ts";
import { waysAndServers, privateFailure } from "../testing/private-call.ts";
import { httpResponse, type Respond } from "../testing/socket-server.ts";

const unreadable = { name: "ConnectionError", isRetryable: true, maybeBilled: true, attempts: 3 };
const tooLarge = {
  name: "InvalidResponseError",
  rule: "body-size",
  questionId: null,
  isRetryable: false,
  attempts: 1,
};

function answering(bytes: (request: string) => Uint8Array): Respond {
  return (socket, _, request) => socket.write(bytes(request));
}

function coded(coding: string, bytes: Uint8Array): Respond {
  return answering(() => httpResponse(200, bytes, { "Content-Encoding": coding }));
}

// Random-looking text, so that a cut takes away more than the end mark.
const json = JSON.stringify(Array.from({ length: 500 }, (_, index) => Math.sin(index)));
const codings: [string, Uint8Array][] = [
  ["gzip", gzipSync(json)],
  ["deflate", deflateSync(json)],
  ["br", brotliCompressSync(json)],
  ["zstd", zstdCompressSync(json)],
];
const unreadableBodies: [string, Respond][] = [
  ["an empty body", answering(() => httpResponse(200, ""))],
  ["status 204", answering(() => Buffer.from("HTTP/1.1 204 X\r\n\r\n"))],
  ["JSON that is cut", answering((request) => httpResponse(200, `{"state":${bodyOf(request)}`))],
  ["a web page", answering((request) => httpResponse(200, `<p>${request}</p>`))],
  ["an unknown coding", coded("rot13", Buffer.from("quagga"))],
  ...codings.map(([coding]): [string, Respond] => [
    `${coding} that is none`,
    coded(coding, Buffer.from("quagga, and not compressed")),
  ]),
  ...codings.map(([coding, bytes]): [string, Respond] => [
    `${coding} that is cut`,
    coded(coding, bytes.subarray(0, bytes.length / 2)),
  ]),
];
const oneByteOver = new Uint8Array(MAX_BODY_BYTES + 1);
const gzipBomb = gzipSync(oneByteOver, { level: 1 });
const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const brotliBomb = brotliCompressSync(oneByteOver, quick);
const plainBody = httpResponse(200, oneByteOver);
const tooLargeBodies: [string, Respond][] = [
  ["a plain body", answering(() => plainBody)],
  ["a gzip bomb", coded("gzip", gzipBomb)],
  ["a brotli bomb", coded("br", brotliBomb)],
];

function bodyOf(request: string): string {
  return request.slice(request.indexOf("\r\n\r\n") + 4);
}

describe.each(waysAndServers)("%s", (_, transportTo, listen) => {
  test.each(unreadableBodies)("asks again after %s", async (_name, respond) => {
    await using server = await listen(respond);
    expect(await privateFailure(transportTo(server.origin))).toMatchObject(unreadable);
    expect(server.requests).toHaveLength(3);
  });

  test.each(tooLargeBodies)("stops reading %s over the limit", async (_name, respond) => {
    await using server = await listen(respond);
    expect(await privateFailure(transportTo(server.origin))).toMatchObject(tooLarge);
    expect(server.requests).toHaveLength(1);
  });

  test("keeps an error status whose body is a bomb", async () => {
    const response = httpResponse(401, gzipBomb, { "Content-Encoding": "gzip" });
    await using server = await listen((socket) => socket.write(response));
    const error = await privateFailure(transportTo(server.origin));
    expect(error).toMatchObject({ name: "AuthenticationError", status: 401, attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });
});
