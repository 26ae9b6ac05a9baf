import type { Server } from "node:http";
import type { Socket } from "node:net";

/** What a client may take of the server; times in milliseconds. */
export interface ServerLimits {
  /** Time for a request's headers, from the first moment of a connection. */
  readonly headersTimeout: number;
  /** Time for a whole request, its body included. */
  readonly requestTimeout: number;
  /** How often those times are looked at. */
  readonly connectionsCheckingInterval: number;
  /** Time an idle connection stays open for a next request. */
  readonly keepAliveTimeout: number;
  /** All headers together, in bytes. */
  readonly maxHeaderSize: number;
  /** Connections at once; one more is answered with a 503. */
  readonly maxConnections: number;
  /** Time that answers in flight have when the router stops. */
  readonly graceMs: number;
}

/**
 * Generous for people and programs, tight for those who only hold connections open. Chosen, not
 * measured.
 */
export const defaultServerLimits: ServerLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 5000,
  maxHeaderSize: 16 * 1024,
  maxConnections: 1024,
  graceMs: 60_000,
};

/**
 * Returns the connections of a server, and ends one whose client leaves its answer unread for `stallMs`.
 * Node's own `closeIdleConnections` leaves those open that never
 * sent a whole request, and `close` stops the timers that would end them.
 */
export function followConnections(server: Server, stallMs: number) {
  const inFlight = new Map<Socket, number>();
  let isDraining = false;
  const settle = (socket: Socket) => {
    if (isDraining && inFlight.get(socket) === 0) socket.destroySoon();
  };
  server.on("connection", (socket) => {
    inFlight.set(socket, 0);
    socket.once("close", () => inFlight.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    // Node says that a connection is idle, and once more after as long where a write was under way
    // before. While a model thinks there is silence too, but nothing that waits to be read.
    response.setTimeout(stallMs, () => socket.writableLength > 0 && socket.destroy());
    inFlight.set(socket, (inFlight.get(socket) ?? 0) + 1);
    response.once("close", () => {
      if (inFlight.has(socket)) inFlight.set(socket, (inFlight.get(socket) ?? 1) - 1);
      settle(socket);
    });
  });
  return {
    /** Ends every connection without a request in flight, now, and each other one after its answer. */
    drain() {
      isDraining = true;
      for (const socket of inFlight.keys()) settle(socket);
    },
    /** Ends every connection. */
    cut() {
      for (const socket of inFlight.keys()) socket.destroy();
    },
  };
}

/**
 * Connections over the limit that are answered with a 503 at once, at most; Node closes one more
 * without an answer. Chosen, not measured: far more than one client opens, and few enough to hold.
 */
const MOST_REJECTED = 256;

/**
 * Time that a rejected client has to send its request and to read its answer, in milliseconds.
 * Chosen, not measured: many times what both take on a slow line.
 */
const REJECTION_MS = 1000;

const body = JSON.stringify({
  error: "The router has too many connections; try again in a moment.",
});
const tooManyConnections = [
  "HTTP/1.1 503 Service Unavailable",
  "Connection: close",
  "Retry-After: 1",
  "Content-Type: application/json",
  `Content-Length: ${body.length}`,
  "",
  body,
].join("\r\n");

/**
 * Lets at most `max` connections through to a server; one more is answered with a 503, without its
 * request being read. Node's own `maxConnections` would close it without a word.
 */
export function limitConnections(server: Server, max: number): void {
  server.maxConnections = max + MOST_REJECTED;
  const open = new Set<Socket>();
  const accept = server.listeners("connection");
  server.removeAllListeners("connection").on("connection", (socket: Socket) => {
    if (open.size >= max) return reject(socket);
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    for (const listener of accept) listener.call(server, socket);
  });
}

function reject(socket: Socket): void {
  const limit = setTimeout(() => socket.destroy(), REJECTION_MS);
  socket.once("close", () => clearTimeout(limit));
  socket.on("error", () => undefined); // it did not wait for its answer
  socket.once("data", () => socket.end(tooManyConnections));
  socket.resume(); // what was left unread would turn the answer's end into a reset
}
