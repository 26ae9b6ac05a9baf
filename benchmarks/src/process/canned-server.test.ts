import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createCannedServer } from "./canned-server.ts";

interface Exchange {
  /** Returns all that came back until the client ended. */
  readonly end: () => Promise<string>;
  readonly socket: Socket;
  readonly seen: string[];
}

async function startExchange(): Promise<Exchange> {
  const seen: string[] = [];
  const server = createCannedServer((methodAndPath, body, send) => {
    if (methodAndPath !== "POST /a") return send(null);
    seen.push(body.toString());
    return send(Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const came = text(socket);
  const end = () => {
    socket.end();
    return came;
  };
  return { end, socket, seen };
}

function requestWith(body: string, path = "/a"): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

test("answers requests that come in one piece, in order, with their bodies apart", async () => {
  const { socket, end, seen } = await startExchange();
  socket.write(requestWith("one") + requestWith("two"));
  const came = await end();
  expect(came.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  expect(came).toMatch(/content-length: 2\r\n\r\n\{\}$/);
  expect(seen).toEqual(["one", "two"]);
});

test("waits for the last byte of a request that comes in pieces", async () => {
  const { socket, end, seen } = await startExchange();
  socket.setNoDelay(true);
  for (const piece of requestWith("three").match(/.{1,20}/gs) ?? []) {
    await new Promise((resolve) => socket.write(piece, resolve));
  }
  await end();
  expect(seen).toEqual(["three"]);
});

test("a path without a reply is not found", async () => {
  const { socket, end, seen } = await startExchange();
  socket.write(requestWith("", "/b"));
  expect(await end()).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
  expect(seen).toEqual([]);
});
