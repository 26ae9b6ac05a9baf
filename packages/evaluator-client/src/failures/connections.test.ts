import { selfSignedCertificate } from "evaluator-kit";
import { createServer } from "node:http";
import {
  createSecureServer as createHttp2Server,
  createServer as createPlainHttp2Server,
} from "node:http2";
import { describe, expect, test } from "vitest";
import { holdClosedPort, listenOnNewPort } from "../testing/loopback-port.ts";
import { privateFailure, transportsTo, waysAndServers } from "../testing/private-call.ts";
import { httpResponse, listenOnSocket, type Respond } from "../testing/socket-server.ts";
import { trustedCertificate } from "../testing/trusted-certificate.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";

const lost = { isRetryable: true, maybeBilled: true, attempts: 3 };
const unknown = { isRetryable: false, maybeBilled: true, attempts: 1 };
const neverSent = { isRetryable: true, maybeBilled: false, attempts: 3 };
const insecure = { isRetryable: false, maybeBilled: false, attempts: 1 };

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"ans\r\n';

// Each server repeats what it was sent, key and state included, as a debugging proxy would.
const lostOnTheWay: [string, Respond][] = [
  ["a reset before the response", (socket) => socket.resetAndDestroy()],
  ["a close before the response", (socket) => socket.end()],
  [
    "half a head",
    (socket, _, request) => socket.end(`HTTP/1.1 200 OK\r\nX-Echo: ${flat(request)}`),
  ],
  [
    "a body shorter than its length",
    (socket, _, request) => socket.end(httpResponse(200, request, { "Content-Length": "9999" })),
  ],
  [
    "two content lengths",
    (socket) => socket.end(httpResponse(200, "{}", { "content-length": "3" })),
  ],
  ["a chunked body without an end", (socket) => socket.end(chunked)],
  [
    "a reset in the body",
    (socket, _, request) =>
      socket.write(httpResponse(200, request, { "Content-Length": "9999" }), () =>
        setImmediate(() => socket.resetAndDestroy()),
      ),
  ],
];

const notHttp: [string, Respond][] = [
  ["words that are not HTTP", (socket, _, request) => socket.end(`Hello! You said ${request}`)],
  [
    "a flood of headers",
    (socket, _, request) =>
      socket.end(httpResponse(200, "{}", Object.fromEntries(flood(flat(request))))),
  ],
  [
    "a head that is none",
    (socket, _, request) => socket.end(`HTTP/1.1 200 OK\r\n${request}\r\n\r\n`),
  ],
];

function flat(request: string): string {
  return request.replace(/\s+/g, " ");
}

function flood(value: string): [string, string][] {
  return Array.from({ length: 500 }, (_, index) => [`x-${index}`, value]);
}

test("says that fetch does not allow the port, and has sent nothing", async () => {
  const fetchItself = (url: string, init: RequestInit) => fetch(url, init);
  const baseUrl = "http://127.0.0.1:6000"; // a port of X11, which fetch never opens
  const transport = gatewayTransport({ apiKey: "k", baseUrl, env: {}, fetch: fetchItself });
  const error = await privateFailure(transport);
  expect(error).toMatchObject({ name: "ConnectionError", ...insecure });
  expect(error.message).toContain("(a port that fetch does not allow)");
});

describe.each(Object.entries(transportsTo))("%s", (way, transportTo) => {
  const overTls = [["over TLS", "https", () => createHttp2Server(trustedCertificate())]] as const;
  test.each([
    ...(way.endsWith("fetch") ? overTls : []),
    ["without TLS", "http", () => createPlainHttp2Server()] as const,
  ])("says of a server %s that it speaks only HTTP/2", async (_name, scheme, create) => {
    let sessions = 0;
    const server = create().on("stream", () => (sessions += 1));
    server.on("sessionError", () => undefined);
    const port = await listenOnNewPort(server);
    const error = await privateFailure(transportTo(`${scheme}://127.0.0.1:${port}`));
    expect(error).toMatchObject({ name: "ConnectionError", ...insecure });
    expect(error.message).toMatch(/^The server at https?:.* speaks only HTTP\/2, and this call/);
    expect(sessions).toBe(0);
    server.close();
  });

  test.each(["http", "https"])(
    "asks again when %s is refused, and has sent nothing",
    async (scheme) => {
      using closed = await holdClosedPort();
      const error = await privateFailure(transportTo(`${scheme}://${closed.host}`));
      expect(error).toMatchObject({ name: "ConnectionError", ...neverSent });
      expect(error.message).toMatch(
        /^Could not connect to https?:.* \(ECONNREFUSED\); check the base/,
      );
    },
  );

  test("says it too where the settings of HTTP/2 hold something", async () => {
    const settings = Buffer.from("00000604000000000000030000ffff", "hex");
    await using server = await listenOnSocket((socket) => socket.end(settings));
    const error = await privateFailure(transportTo(server.origin));
    expect(error.message).toContain("speaks only HTTP/2");
    expect(server.requests).toHaveLength(1);
  });
});

// No HTTP/1.1 can be played within HTTP/2. Bytes that are none end other calls too, so all may be sent again.
const notHttp2: [string, string][] = [
  ["words that are not HTTP/2", `Hello! You said ${"quagga ".repeat(9)}`],
  ["a head that is none", "\0\0\0\x04\0\0\0\0\0\0\0\x06\x01\x05\0\0\0\x01quagga"],
];

const overHttp2 = /^(?!.*fetch).*offers h2$/;

describe.each(waysAndServers.filter(([way]) => !overHttp2.test(way)))(
  "%s",
  (_way, transportTo, listen) => {
    test.each(notHttp)("does not ask again after %s", async (_name, respond) => {
      await using server = await listen(respond);
      const error = await privateFailure(transportTo(server.origin));
      expect(error).toMatchObject({ name: "ConnectionError", ...unknown });
      expect(server.requests).toHaveLength(1);
    });
  },
);

describe.each(waysAndServers.filter(([way]) => overHttp2.test(way)))("%s", (_, transportTo) => {
  test.each(notHttp2)("asks again after %s", async (_name, bytes) => {
    const certificate = { ...trustedCertificate(), hasHttp2: "as bytes" } as const;
    await using server = await listenOnSocket((socket) => socket.write(bytes), certificate);
    const error = await privateFailure(transportTo(server.origin));
    expect(error).toMatchObject({ name: "ConnectionError", ...lost });
    expect(server.connections).toBe(3);
  });
});

describe.each(waysAndServers)("%s", (way, transportTo, listen) => {
  test.each(lostOnTheWay)("asks again after %s", async (_name, respond) => {
    await using server = await listen(respond);
    const error = await privateFailure(transportTo(server.origin));
    expect(error).toMatchObject({ name: "ConnectionError", ...lost });
    expect(error.message).toMatch(/may have been billed\..* after 3 attempts\.$/);
    expect(server.requests).toHaveLength(3);
  });

  test("asks again when the name is not found, and has sent nothing", async () => {
    const error = await privateFailure(transportTo("http://service.invalid"));
    expect(error).toMatchObject({ name: "ConnectionError", ...neverSent });
    expect(error.message).toMatch(/\((ENOTFOUND|EAI_AGAIN)\)/);
  });

  test("does not ask again when the certificate is not to be trusted", async () => {
    await using server = await listenOnSocket(() => undefined, selfSignedCertificate());
    const error = await privateFailure(transportTo(server.origin));
    expect(error).toMatchObject({ name: "ConnectionError", ...insecure });
    expect(error.message).toMatch(
      /^No secure connection .* \(DEPTH_ZERO_SELF_SIGNED_CERT\); check/,
    );
    expect(server.requests).toHaveLength(0);
  });

  test("does not ask again when the other side speaks no TLS", async () => {
    let requests = 0;
    const server = createServer(() => (requests += 1));
    const port = await listenOnNewPort(server);
    const error = await privateFailure(transportTo(`https://127.0.0.1:${port}`));
    expect(error).toMatchObject({ name: "ConnectionError", ...insecure });
    expect(requests).toBe(0);
    server.close();
  });

  test("recovers on a new connection when the service closed an idle one", async () => {
    const answer = httpResponse(200, "{}");
    await using server = await listen((socket, index) => {
      if (index === 1) socket.resetAndDestroy();
      else socket.write(answer);
    });
    const transport = transportTo(server.origin);
    const shapeless = way.startsWith("logprobs")
      ? { name: "ConfigurationError" }
      : { name: "InvalidResponseError", rule: "body-shape" };
    expect(await privateFailure(transport)).toMatchObject({ ...shapeless, attempts: 1 });
    expect(await privateFailure(transport)).toMatchObject({ ...shapeless, attempts: 2 });
    expect(server.connections).toBe(2);
  });
});
