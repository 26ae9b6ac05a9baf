import { createServer, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import type { Transport } from "../transports/transport.ts";
import { listenOnNewPort } from "../testing/loopback-port.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { privateFailure, transportsTo, waysAndServers } from "../testing/private-call.ts";

const head = "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n";

/** Sends one byte a second for as long as the other side listens. */
async function drip(socket: Socket, { first, clock }: { first: string; clock: ManualClock }) {
  socket.write(first);
  while (!socket.destroyed && socket.writable) {
    await clock.advance(1000);
    socket.write(" ");
  }
}

describe.each(waysAndServers)("%s", (_, transportTo, listen) => {
  test.each([
    ["the head", "HTTP/1.1 200 OK\r\nX-Slow: "],
    ["the body", head],
  ])("ends each attempt at its limit while %s drips", async (_name, first) => {
    const clock = new ManualClock();
    await using server = await listen((socket) => void drip(socket, { first, clock }));
    const limits = { clock, attemptTimeoutMs: 5000, deadlineMs: 100_000_000 };
    const error = await privateFailure(transportTo(server.origin), limits);
    expect(error).toMatchObject({
      name: "TimeoutError",
      limit: "attempt",
      timeoutMs: 5000,
      retryAfterMs: null,
      isRetryable: true,
      maybeBilled: true,
      attempts: 3,
    });
    expect(error.message).toMatch(/within 5000 ms \(attemptTimeoutMs\).* after 3 attempts\.$/);
    expect(server.requests).toHaveLength(3);
    expect(clock.waiting).toBe(0);
  });

  test("ends everything at the deadline while the body drips", async () => {
    const clock = new ManualClock();
    await using server = await listen((socket) => void drip(socket, { first: head, clock }));
    const limits = { clock, attemptTimeoutMs: 8000, deadlineMs: 5000 };
    const error = await privateFailure(transportTo(server.origin), limits);
    expect(error).toMatchObject({
      name: "TimeoutError",
      limit: "deadline",
      timeoutMs: 5000,
      isRetryable: false,
      maybeBilled: true,
      attempts: 1,
    });
    expect(error.message).toContain("within 5000 ms (deadlineMs)");
    expect(server.requests).toHaveLength(1);
    expect(clock.waiting).toBe(0);
  });
});

test("an attempt that ran out of time before its handshake ended was not billed", async () => {
  const clock = new ManualClock();
  const sockets: Socket[] = [];
  const silent = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined).once("data", () => void clock.advance(5000));
  });
  const port = await listenOnNewPort(silent);
  const transport = transportsTo["gateway over undici"]?.(`https://127.0.0.1:${port}`);
  const options = { clock, attemptTimeoutMs: 5000, maxRetries: 0 };
  const error = await privateFailure(transport as Transport, options);
  for (const socket of sockets) socket.destroy();
  silent.close();
  expect(error).toMatchObject({ name: "TimeoutError", maybeBilled: false, isRetryable: true });
});
