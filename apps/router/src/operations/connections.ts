import type { Server } from "node:http";
import type { Socket } from "node:net";

/** The connections of a server, and which of them wait for an answer. */
export interface Connections {
  /** Ends every connection without a request in flight, now, and each other one after its answer. */
  readonly drain: () => void;
  /** Ends every connection. */
  readonly cut: () => void;
}

/**
 * Follows a server's connections, and ends one whose client leaves its answer unread for `stallMs`.
 * Node's own `closeIdleConnections` leaves those open that never
 * sent a whole request, and `close` stops the timers that would end them.
 */
export function followConnections(server: Server, stallMs: number): Connections {
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
    // Node tells of silence, and once more after as long where a write was under way before. While a
    // model thinks there is silence too, but nothing that waits to be read.
    response.setTimeout(stallMs, () => socket.writableLength > 0 && socket.destroy());
    inFlight.set(socket, (inFlight.get(socket) ?? 0) + 1);
    response.once("close", () => {
      if (inFlight.has(socket)) inFlight.set(socket, (inFlight.get(socket) ?? 1) - 1);
      settle(socket);
    });
  });
  return {
    drain() {
      isDraining = true;
      for (const socket of inFlight.keys()) settle(socket);
    },
    cut() {
      for (const socket of inFlight.keys()) socket.destroy();
    },
  };
}
