import { once } from "node:events";
import {
  createSecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type Settings,
} from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { onTestFinished } from "vitest";
import { listenOnNewPort } from "./loopback-port.ts";
import { trustedCertificate } from "./trusted-certificate.ts";

/** A whole request that an HTTP/2 server has received. */
export interface Call {
  readonly stream: ServerHttp2Stream;
  readonly session: ServerHttp2Session;
  readonly body: string;
  /** The number of the request on the whole server, from 0. */
  readonly index: number;
  /** The number of the request on its session, from 0. */
  readonly ofSession: number;
}

/** Listens for HTTP/2 on loopback, and answers each whole request. */
export async function listenForHttp2(
  answer: (call: Call) => void,
  settings: Settings = {},
  port = 0,
) {
  const server = createSecureServer({ ...trustedCertificate(), settings });
  const sessions: ServerHttp2Session[] = [];
  const bodies: string[] = [];
  server.on("session", (session) => {
    sessions.push(session);
    session.on("error", () => undefined);
    let ofSession = 0;
    session.on("stream", (stream) => {
      const order = ofSession;
      ofSession += 1;
      let body = "";
      stream.on("error", () => undefined);
      stream.on("data", (bytes) => (body += String(bytes)));
      stream.on("end", () => {
        const index = bodies.push(body) - 1;
        if (!stream.destroyed) answer({ stream, session, body, index, ofSession: order });
      });
    });
  });
  await start(server, port);
  /** Ends all sessions, and resolves when the port is free. */
  const close = async () => {
    for (const session of sessions) session.close();
    server.close();
    await once(server, "close");
  };
  return { origin: originOf(server), sessions, bodies, close };
}

/** Listens on loopback until the test ends, on a new port if none is given; returns the port. */
export async function start(server: Server, port = 0): Promise<number> {
  onTestFinished(() => void server.close());
  if (port === 0) return listenOnNewPort(server);
  await once(server.listen(port, "127.0.0.1"), "listening");
  return port;
}

/** Returns where a server listens. */
export function originOf(server: { address(): unknown }): string {
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers a request with its body. */
export function echo({ stream, body }: Pick<Call, "stream" | "body">): void {
  stream.respond({ ":status": 200 });
  stream.end(body);
}
