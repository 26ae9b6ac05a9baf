import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { isForeignRequest, isLoopbackHost, listen } from "evaluator-cli-kit";
import type { Delivery } from "./call.ts";
import { deliverOverHttp } from "./deliver.ts";

/** A running HTTP server. */
export interface Listener {
  /** Such as `http://127.0.0.1:8787`. */
  readonly origin: string;
  /** Stops it and ends its open connections. */
  close(): Promise<void>;
}

/** Answers a request, and decides how the response is to leave. */
export type Answer = (request: Request, delivery: Delivery) => Promise<Response>;

/**
 * Serves over HTTP on this machine.
 *
 * @param port - 0 takes any free port.
 * @throws {Error} when the host is not a loopback one, or the port is taken.
 */
export async function serve(
  answer: Answer,
  { host, port }: { host: string; port: number },
): Promise<Listener> {
  if (!isLoopbackHost(host)) {
    throw new Error(`The emulator listens on loopback only; "${host}" is not a loopback host.`);
  }
  const handle = requestListener(answer);
  const server = createServer((incoming, outgoing) => {
    if (isForeignRequest(incoming.headers)) refuse(outgoing);
    else void handle(incoming, outgoing);
  });
  const { origin } = await listen(server, { host, port });
  return {
    origin,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function requestListener(
  answer: Answer,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  return getRequestListener(
    async (request, { outgoing }) => {
      const delivery: Delivery = { ending: "whole", hasResponse: true };
      try {
        const response = await answer(request, delivery);
        if (!outgoing.destroyed) {
          await deliverOverHttp(response, outgoing as ServerResponse, delivery);
        }
      } catch {
        // The caller left while its call was held up.
        outgoing.destroy();
      }
      // A clone, because the constant sends itself once more where another server of this library
      // had put its own Response into the globals before this file was loaded.
      return RESPONSE_ALREADY_SENT.clone();
    },
    { overrideGlobalObjects: false },
  );
}

function refuse(outgoing: ServerResponse): void {
  const message = "The emulator answers to loopback names only, such as 127.0.0.1 or localhost.";
  const body = JSON.stringify({ error: { message, type: "forbidden" } });
  outgoing.writeHead(403, { "content-type": "application/json" }).end(body);
}
