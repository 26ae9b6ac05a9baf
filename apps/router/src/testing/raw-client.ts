import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A bare connection, and everything that came back on it. */
export interface RawClient {
  readonly socket: Socket;
  /** Everything received, once the router closes the connection. */
  readonly received: Promise<string>;
}

/** Connects to a router for the length of a test, and sends bytes as they are. */
export async function rawClient(origin: string, bytes: string | Buffer = ""): Promise<RawClient> {
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.setEncoding("utf8").on("data", (part) => (text += String(part)));
  const received = new Promise<string>((resolve) => {
    socket.once("close", () => resolve(text));
  });
  socket.on("error", () => undefined); // a reset is an end as well
  await once(socket, "connect");
  if (bytes.length > 0) socket.write(bytes);
  return { socket, received };
}

/** Sends bytes as they are, and returns everything that comes back. */
export async function sendRaw(origin: string, bytes: string): Promise<string> {
  return (await rawClient(origin, bytes)).received;
}

/** Returns a request's bytes; the connection ends after its answer. */
export function rawRequest(line: string, headers: readonly string[], body = ""): string {
  return [`${line} HTTP/1.1`, "Connection: close", ...headers, "", body].join("\r\n");
}
