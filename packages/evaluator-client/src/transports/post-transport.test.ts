import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { readRuntime } from "../clock.ts";
import { directBody, emailRequest, gatewayBody } from "../testing/email-evaluation.ts";
import { privateFailure, privateHeader, transportsTo } from "../testing/private-call.ts";
import { httpResponse, listenOnSocket } from "../testing/socket-server.ts";
import { directTransport } from "./direct/direct-transport.ts";
import { gatewayTransport } from "./gateway/gateway-transport.ts";
import type { Transport } from "./transport.ts";

const services: [string, (baseUrl: string) => Transport, object][] = [
  ["gateway", (baseUrl) => gatewayTransport({ baseUrl, apiKey: "k", env: {} }), gatewayBody],
  ["direct", (baseUrl) => directTransport({ baseUrl, apiKey: null, env: {} }), directBody],
];
const context = { clock: readRuntime({}).clock, signal: new AbortController().signal };

test.each(services)("%s returns status, headers and body unchanged", async (_, to, body) => {
  const headers = { "X-Region": "fra1", "Set-Cookie": "a=1\r\nSet-Cookie: b=2" };
  const answer = httpResponse(200, JSON.stringify(body), headers);
  await using server = await listenOnSocket((socket) => socket.write(answer));
  const reply = await to(server.origin).send(emailRequest, context);
  expect(reply).toMatchObject({ status: 200, raw: body });
  expect(reply.headers).toMatchObject({ "x-region": "fra1", "set-cookie": ["a=1", "b=2"] });
});

test.each(services)("%s sends nothing after its end", async (_, to) => {
  const answer = httpResponse(503, "{}");
  await using server = await listenOnSocket((socket) => socket.write(answer));
  const transport = to(server.origin);
  await expect(transport.send(emailRequest, context)).rejects.toMatchObject({ status: 503 });
  await transport.close?.();
  const closed = { name: "ConfigurationError", option: "transport" };
  await expect(transport.send(emailRequest, context)).rejects.toMatchObject(closed);
  expect(server.requests).toHaveLength(1);
});

test.each(services)("%s leaves the connections to another that uses them", async (_, to) => {
  const answer = httpResponse(503, "{}");
  await using server = await listenOnSocket((socket) => socket.write(answer));
  const [one, other] = [to(server.origin), to(server.origin)];
  const ask = async (transport: Transport) => {
    const error: unknown = await transport.send(emailRequest, context).catch((thrown) => thrown);
    await setImmediate(); // undici takes a turn before it uses a connection again
    return error;
  };
  expect(await ask(one)).toMatchObject({ status: 503 });
  expect(await ask(other)).toMatchObject({ status: 503 });
  await one.close?.();
  expect(await ask(other)).toMatchObject({ status: 503 });
  expect(server.connections).toBe(1);
  await other.close?.();
  expect(await ask(to(server.origin))).toMatchObject({ status: 503 });
  expect(server.connections).toBe(2);
});

describe.each(Object.entries(transportsTo))("%s", (_, transportTo) => {
  test("sends a call's own headers with each attempt, and no error repeats them", async () => {
    const answer = httpResponse(500, JSON.stringify({ error: { message: privateHeader } }));
    await using server = await listenOnSocket((socket) => socket.write(answer));
    const headers = { "x-request-id": privateHeader };
    await privateFailure(transportTo(server.origin), { headers });
    expect(server.requests).toHaveLength(3);
    for (const request of server.requests) {
      expect(request.toLowerCase()).toContain(`x-request-id: ${privateHeader}`);
    }
  });

  test.each([{ Authorization: "quagga" }, { "x-a": "two\nlines" }])(
    "rejects the header %j of a call, and sends nothing",
    async (headers) => {
      await using server = await listenOnSocket(() => undefined);
      const error = await privateFailure(transportTo(server.origin), { headers });
      expect(error).toMatchObject({ name: "ConfigurationError", option: "headers" });
      expect(server.requests).toEqual([]);
    },
  );
});
