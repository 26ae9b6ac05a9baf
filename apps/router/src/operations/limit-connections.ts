import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Connections that wait to be refused at once, at most; one more is closed unheard. */
const REFUSED_AT_ONCE = 256;

/** Time that a refused client has to ask and to read its answer, in milliseconds. */
const REFUSAL_MS = 1000;

const body = JSON.stringify({
  error: "The router has too many connections; try again in a moment.",
});
const refusal = [
  "HTTP/1.1 503 Service Unavailable",
  "Connection: close",
  "Retry-After: 1",
  "Content-Type: application/json",
  `Content-Length: ${body.length}`,
  "",
  body,
].join("\r\n");

/**
 * Lets at most `max` connections through to a server; one more is told to come back, without its
 * request being read. Node's own `maxConnections` would close it without a word.
 */
export function limitConnections(server: Server, max: number): void {
  server.maxConnections = max + REFUSED_AT_ONCE;
  const open = new Set<Socket>();
  const accept = server.listeners("connection");
  server.removeAllListeners("connection").on("connection", (socket: Socket) => {
    if (open.size >= max) return refuse(socket);
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    for (const listener of accept) listener.call(server, socket);
  });
}

function refuse(socket: Socket): void {
  const limit = setTimeout(() => socket.destroy(), REFUSAL_MS);
  socket.once("close", () => clearTimeout(limit));
  socket.on("error", () => undefined); // it did not wait for its answer
  socket.once("data", () => socket.end(refusal));
  socket.resume(); // what was left unread would turn the answer's end into a reset
}
