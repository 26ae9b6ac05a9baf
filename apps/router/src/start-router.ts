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
export async function startRouter({ limits: givenLimits, ...parts }: RouterParts) {
  const { options, services } = parts;
  const { host, allowedNames, stallMs, keepAliveMs, addressSettings } = options;
  const { graceMs, maxConnections, ...limits } = { ...defaultServerLimits, ...givenLimits };
  const page = await loadPage({ ...services, hasLog: Boolean(parts.log) });
  const server = createServer({ keepAliveTimeout: keepAliveMs, ...limits });
  const connections = followConnections(server, stallMs, maxConnections);
  const { port, origin } = await listen(server, {
    host,
    ...(options.port === null ? { port: 3000, warn: parts.warn } : { port: options.port }),
    ...addressSettings,
  });
  let isStopping = false;
  const hosts = allowedHosts(host, port, allowedNames); // the port is known only now
  const app = createApp({ ...parts, page, hosts, isStopping: () => isStopping });
  connections.answerBy(getRequestListener(app.fetch));
  return {
    /** The page's address, such as `http://127.0.0.1:3000`. */
    origin,
    /** Stops listening, lets answers in flight finish, and closes the services. */
    close: async () => {
      isStopping = true;
      const count = app.callsInFlight();
      if (count > 0) parts.warn?.(finishing(count, graceMs));
      server.close();
      connections.drain();
      const grace = setTimeout(() => connections.cut(), graceMs);
      await once(server, "close");
      clearTimeout(grace);
      // The last client may have left: then its message is still to be recorded and settled.
      for (let waits = 0; app.callsInFlight() > 0 && waits < 100; waits += 1) await wait(10);
      await services.close();
    },
  };
}

function finishing(count: number, graceMs: number): string {
  const answers = count === 1 ? "1 answer" : `${count} answers`;
  return `Finishing ${answers}, for at most ${graceMs / 1000} s; a second Ctrl-C ends the router at once.\n`;
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
  server.on("connection", (socket: Socket) => {
    if (inFlight.size >= max) return setTimeout(() => socket.destroy(), REJECTION_MS).unref();
    inFlight.set(socket, 0);
    return socket.once("close", () => inFlight.delete(socket));
  });
  const answerBy = (answer: RequestListener) =>
    server.on("request", (request, response) => {
      const { socket } = request;
      const requests = inFlight.get(socket);
      if (requests === undefined) return reject(response);
      // Node reports an idle connection; after a pending write, only the second time. While a model
      // thinks the connection is silent too, but then no bytes wait for the client.
      response.setTimeout(stallMs, () => socket.writableLength > 0 && socket.destroy());
      inFlight.set(socket, requests + 1);
      response.once("close", () => {
        const remainingCount = (inFlight.get(socket) ?? 1) - 1;
        if (inFlight.has(socket)) inFlight.set(socket, remainingCount);
        if (isDraining && remainingCount === 0) socket.destroySoon();
      });
      return answer(request, response);
    });
  return {
    /** Answers the requests of all connections but those over `max`. */
    answerBy,
    /** Ends idle connections now, and every other one after its answer. */
    drain() {
      isDraining = true;
      for (const [socket, requests] of inFlight) if (requests === 0) socket.destroySoon();
    },
    cut() {
      for (const socket of inFlight.keys()) socket.destroy();
    },
  };
}

function reject(response: ServerResponse): void {
  const body = '{"error":"The router has too many connections; try again in a moment."}';
  const headers = { "Content-Type": "application/json", "Content-Length": body.length };
  response.writeHead(503, { Connection: "close", "Retry-After": "1", ...headers }).end(body);
}
