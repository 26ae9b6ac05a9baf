import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import {
  type Certificate,
  CliError,
  closeServer,
  isForeignRequest,
  isLoopbackHost,
  listen,
} from "evaluator-kit";
import type { Delivery } from "./call.ts";
import { deliverOverHttp } from "./deliver.ts";

/** A running HTTP server. */
export type Listener = Awaited<ReturnType<typeof serve>>;

/** Answers a request, and decides how the response is to leave. */
export type Answer = (request: Request, delivery: Delivery) => Promise<Response>;

/** Where to listen, and under which names. */
export interface ServeOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Names under which it may be called besides those of this machine. */
  readonly allowedHosts: readonly string[];
  /** Serves HTTPS with it, or HTTP where it is null. */
  readonly tls: Certificate | null;
}

/**
 * Serves over HTTP or HTTPS.
 *
 * @throws {Error} when the host is not a loopback one though no other name is allowed, the port is
 * taken, or the certificate cannot be used.
 */
export async function serve(answer: Answer, options: ServeOptions) {
  const { host, port, allowedHosts, tls } = options;
  if (!isLoopbackHost(host) && allowedHosts.length === 0) {
    throw new CliError(
      `The emulator listens on loopback only; "${host}" is not a loopback host. To be called from elsewhere, as in a container, name how it is called: --allow-host NAME.`,
    );
  }
  const names = allowedHosts.map((name) => name.toLowerCase());
  const handle = requestListener(answer);
  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (isForeignRequest(incoming.headers, names)) reject(outgoing);
    else void handle(incoming, outgoing);
  };
  const server = tls === null ? createServer(onRequest) : createTls(tls, onRequest);
  const protocol = tls === null ? "http" : "https";
  const { origin } = await listen(server, { host, port, protocol });
  return { origin, close: () => closeServer(server) };
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

function createTls(
  { key, cert }: Certificate,
  onRequest: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
) {
  try {
    return createTlsServer({ key, cert }, onRequest);
  } catch (error) {
    const message =
      "The certificate and its key cannot be used; each is a PEM file, and they belong together.";
    throw new CliError(message, { cause: error });
  }
}

function reject(outgoing: ServerResponse): void {
  const message =
    "The emulator answers to loopback names only, such as 127.0.0.1 or localhost, and to those of --allow-host.";
  const body = JSON.stringify({ error: { message, type: "forbidden" } });
  outgoing.writeHead(403, { "content-type": "application/json" }).end(body);
}
