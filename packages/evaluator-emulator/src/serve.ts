import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import {
  type Certificate,
  CliError,
  closeServer,
  isForeignRequest,
  isLoopbackHost,
  listen,
  selfSignedCertificate,
} from "evaluator-kit";
import type { Delivery } from "./call.ts";

/** Answers a request, and decides how its response is sent. */
type Answer = (request: Request, delivery: Delivery) => Promise<Response>;

/** The addresses of a listening emulator. */
export interface EmulatorAddress {
  readonly origin: string;
  /** For the gateway's clients; ends in `/v4/ai`. */
  readonly gatewayBaseUrl: string;
  /** For the vendor's clients; ends in `/direct`. */
  readonly directBaseUrl: string;
  /** The certificate to trust, in PEM; null over HTTP. */
  readonly certificate: string | null;
}

/** Where to listen. */
export interface ListenOptions {
  /** Other than loopback only with `allowedHosts`. @default "127.0.0.1" */
  readonly host?: string;
  /** @default 0, any free port */
  readonly port?: number;
  /** Names by which it may be called besides those of this machine. @default none */
  readonly allowedHosts?: readonly string[];
  /** Serves HTTPS; `true` makes a certificate for this machine and the allowed hosts. @default HTTP */
  readonly tls?: Certificate | true;
}

/** A gateway and a vendor on this machine. */
export interface Emulator {
  /** Answers a request in this process; any host will do, and a bare path. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /**
   * Listens for HTTP or HTTPS on this machine.
   *
   * @throws {Error} if the port is taken, the host is not loopback, or it already listens.
   */
  listen(options?: ListenOptions): Promise<EmulatorAddress>;
  /** Restores the initial accounts, ids and faults, and empties the request log. */
  reset(): void;
  /** Stops listening; `fetch` still works. */
  close(): Promise<void>;
}

/** Returns an emulator that answers in this process and, if it listens, over HTTP or HTTPS. */
export function toEmulator(answer: Answer, reset: () => void): Emulator {
  let listener: Awaited<ReturnType<typeof serve>> | null = null;
  // Without it, a request is garbage while its call waits, and its signal never aborts.
  const underWay = new Set<unknown>();
  return {
    async fetch(input, init) {
      const target = input instanceof Request ? input : new URL(input, "http://127.0.0.1");
      const request = new Request(target, init);
      request.signal.throwIfAborted();
      const delivery: Delivery = { ending: "whole", hasResponse: true };
      const call = [input, request];
      underWay.add(call);
      try {
        return await deliverByFetch(await answer(request, delivery), request.signal, delivery);
      } finally {
        underWay.delete(call);
      }
    },
    async listen(options) {
      if (listener !== null) throw new Error("The emulator already listens; close it first.");
      listener = await serve(answer, options);
      return listener.address;
    },
    reset,
    async close() {
      await listener?.close();
      listener = null;
    },
  };
}

/**
 * Serves over HTTP or HTTPS.
 *
 * @throws {Error} if the host is not loopback although no other name is allowed, the port is taken, or
 * the certificate cannot be used.
 */
async function serve(answer: Answer, options: ListenOptions = {}) {
  const { host = "127.0.0.1", port = 0, allowedHosts = [], tls: given } = options;
  const tls = given === true ? selfSignedCertificate(allowedHosts) : (given ?? null);
  if (!isLoopbackHost(host) && allowedHosts.length === 0) {
    throw new CliError(
      `The emulator listens on loopback only; "${host}" is not a loopback host. To call it from elsewhere, as in a container, allow the name of its host: --allow-host NAME.`,
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
  const address: EmulatorAddress = {
    origin,
    gatewayBaseUrl: `${origin}/v4/ai`,
    directBaseUrl: `${origin}/direct`,
    certificate: tls?.cert ?? null,
  };
  return { address, close: () => closeServer(server) };
}

function requestListener(answer: Answer) {
  return getRequestListener(
    async (request, { outgoing }) => {
      const delivery: Delivery = { ending: "whole", hasResponse: true };
      try {
        const response = await answer(request, delivery);
        if (delivery.ending === "whole" && delivery.hasResponse) return response;
        if (!outgoing.destroyed) {
          await breakConnection(response, outgoing as ServerResponse, delivery);
        }
      } catch {
        // The caller left while its call waited.
        outgoing.destroy();
      }
      // A clone: the constant would be sent once more if another server of this library had replaced
      // the global Response before this file was loaded.
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

// Without it the receiver drops the bytes before the reset unread. Chosen, not measured.
const beforeResetMs = 50;

/** Returns the first half of a body, in bytes or in the events of a stream. */
function halfOf(body: string, contentType = ""): Buffer {
  if (contentType === "text/event-stream") {
    const events = body.split(/(?<=\n\n)/).filter((event) => event.endsWith("\n\n"));
    if (events.length > 0) return Buffer.from(events.slice(0, events.length / 2).join(""));
  }
  const bytes = Buffer.from(body);
  return bytes.subarray(0, bytes.length / 2);
}

/** Sends a part of a response, or none, and breaks the connection of its request. */
async function breakConnection(
  response: Response,
  outgoing: ServerResponse,
  { ending, hasResponse }: Delivery,
): Promise<void> {
  if (ending === "hang") return;
  if (!hasResponse) return void outgoing.socket?.resetAndDestroy();
  const bytes = Buffer.from(await response.arrayBuffer());
  const contentType = contentTypeOf(response);
  const length = contentType === "text/event-stream" ? {} : { "content-length": bytes.length };
  outgoing.writeHead(response.status, { ...Object.fromEntries(response.headers), ...length });
  await new Promise<void>((resolve) => {
    outgoing.write(halfOf(bytes.toString(), contentType), () => resolve());
  });
  if (ending === "cut") return void outgoing.socket?.end();
  await sleep(beforeResetMs);
  outgoing.socket?.resetAndDestroy();
}

/** Returns a delivery as `fetch` shows it: a response, a rejection, or a body that breaks off. */
async function deliverByFetch(
  response: Response,
  signal: AbortSignal,
  { ending, hasResponse }: Delivery,
): Promise<Response> {
  if (ending === "hang") {
    if (!signal.aborted) await once(signal, "abort");
    throw signal.reason;
  }
  if (!hasResponse) throw new TypeError("fetch failed", { cause: systemError("ECONNRESET") });
  if (ending === "whole" || response.body === null) return response;
  const half = halfOf(await response.text(), contentTypeOf(response));
  const code = ending === "cut" ? "UND_ERR_SOCKET" : "ECONNRESET";
  return new Response(brokenBody(half, code), response);
}

function contentTypeOf({ headers }: Response): string {
  return headers.get("content-type") ?? "";
}

function brokenBody(half: Buffer, code: string): ReadableStream<Uint8Array> {
  const chunks = [half];
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.pop();
      if (chunk !== undefined && chunk.length > 0) controller.enqueue(chunk);
      else controller.error(new TypeError("terminated", { cause: systemError(code) }));
    },
  });
}

function systemError(code: string): Error {
  return Object.assign(new Error("The emulator broke the connection."), { code });
}
