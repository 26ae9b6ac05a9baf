import { once } from "node:events";
import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { listen } from "evaluator-kit";
import { createApp } from "./create-app.ts";
import { loadPage } from "./page/load-page.ts";
import { allowedHosts } from "./routes/guards.ts";

/** Generous for people and programs, tight for idle connections; times in ms. Chosen, not measured. */
const defaultServerLimits = {
  /** From the start of the connection. */
  headersTimeout: 10_000,
  /** With the body. */
  requestTimeout: 30_000,
  connectionsCheckingInterval: 1000,
  /** All headers together, in bytes. */
  maxHeaderSize: 16 * 1024,
  /** One connection more is answered with a 503. */
  maxConnections: 1024,
  /** For answers in flight when the router stops. */
  graceMs: 60_000,
};

type RouterParts = Omit<Parameters<typeof createApp>[0], "page" | "hosts" | "isStopping"> & {
  readonly limits?: Partial<typeof defaultServerLimits>;
  /** Gets a line if the default port is taken, or answers are in flight at the end. @default a taken port fails the start */
  readonly warn?: (line: string) => void;
};

/** Starts the router. @throws CliError if its address is not free. */
export async function startRouter({ limits: givenLimits, ...routerParts }: RouterParts) {
  const { options, services } = routerParts;
  const { host, allowedNames, stallMs, keepAliveMs, addressSettings } = options;
  const { graceMs, maxConnections, ...serverLimits } = { ...defaultServerLimits, ...givenLimits };
  const page = await loadPage({ ...services, hasLog: Boolean(routerParts.log) });
  const server = createServer({ keepAliveTimeout: keepAliveMs, ...serverLimits });
  const connections = followConnections(server, stallMs, maxConnections);
  const { port, origin } = await listen(server, {
    host,
    ...(options.port === null ? { port: 3000, warn: routerParts.warn } : { port: options.port }),
    ...addressSettings,
  });
  let isStopping = false;
  const hosts = allowedHosts(host, port, allowedNames); // the port is known only now
  const routerApp = createApp({ ...routerParts, page, hosts, isStopping: () => isStopping });
  connections.answerBy(getRequestListener(routerApp.fetch));
  return {
    /** The page's address, such as `http://127.0.0.1:3000`. */
    origin,
    /** Stops listening, lets answers in flight finish, and closes the services. */
    close: async () => {
      isStopping = true;
      const callCount = routerApp.callsInFlight();
      if (callCount > 0) routerParts.warn?.(finishing(callCount, graceMs));
      server.close();
      connections.drain();
      const graceTimer = setTimeout(() => connections.cut(), graceMs);
      await once(server, "close");
      clearTimeout(graceTimer);
      // The last client may have left: then its message is still to be recorded and settled.
      for (let waits = 0; routerApp.callsInFlight() > 0 && waits < 100; waits += 1) await wait(10);
      await services.close();
    },
  };
}

function finishing(callCount: number, graceMs: number): string {
  const answersText = callCount === 1 ? "1 answer" : `${callCount} answers`;
  return `Finishing ${answersText}, for at most ${graceMs / 1000} s; a second Ctrl-C ends the router at once.\n`;
}

/** Connections over the limit that get a 503; Node closes any more. Chosen: more than a client opens. */
const MOST_REJECTED = 256;

/** Time for a rejected client to send its request and read the answer, in ms. Chosen. */
const REJECTION_MS = 1000;

/**
 * Tracks the connections of a server, ends one whose client does not read for `stallMs`, and marks
 * those over `max`. Node's own `maxConnections` closes them silently, its `closeIdleConnections` keeps
 * connections that never sent a whole request, and `close` stops the timers that would end them.
 */
function followConnections(server: Server, stallMs: number, max: number) {
  const inFlight = new Map<Socket, number>();
  let isDraining = false;
  server.maxConnections = max + MOST_REJECTED;
  server.on("connection", (newSocket: Socket) => {
    if (inFlight.size >= max) return setTimeout(() => newSocket.destroy(), REJECTION_MS).unref();
    inFlight.set(newSocket, 0);
    return newSocket.once("close", () => inFlight.delete(newSocket));
  });
  const answerBy = (answerRequest: RequestListener) =>
    server.on("request", (request, response) => {
      const { socket } = request;
      const requestCount = inFlight.get(socket);
      if (requestCount === undefined) return reject(response);
      // Node reports an idle connection; after a pending write, only the second time. While a model
      // thinks the connection is silent too, but then no bytes wait for the client.
      response.setTimeout(stallMs, () => socket.writableLength > 0 && socket.destroy());
      inFlight.set(socket, requestCount + 1);
      response.once("close", () => {
        const remainingCount = (inFlight.get(socket) ?? 1) - 1;
        if (inFlight.has(socket)) inFlight.set(socket, remainingCount);
        if (isDraining && remainingCount === 0) socket.destroySoon();
      });
      return answerRequest(request, response);
    });
  return {
    /** Answers the requests of all connections but those over `max`. */
    answerBy,
    /** Ends idle connections now, and every other one after its answer. */
    drain() {
      isDraining = true;
      for (const [socket, requestCount] of inFlight) if (requestCount === 0) socket.destroySoon();
    },
    cut() {
      for (const socket of inFlight.keys()) socket.destroy();
    },
  };
}

function reject(httpResponse: ServerResponse): void {
  const body = '{"error":"The router has too many connections; try again in a moment."}';
  const headers = { "Content-Type": "application/json", "Content-Length": body.length };
  httpResponse.writeHead(503, { Connection: "close", "Retry-After": "1", ...headers }).end(body);
}
