import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
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
import { fetchBy, toHalf, isEventStream } from "./deliver-by-fetch.ts";
import type { FetchEmulator } from "./fetch-emulator.ts";

type Answer = Parameters<typeof fetchBy>[0];

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
  /** Gets a line if the port is taken; then the next free one is used. @default a taken port is an error */
  readonly warn?: (line: string) => void;
  /** Names by which it may be called besides those of this machine. @default none */
  readonly allowedHosts?: readonly string[];
  /** Serves HTTPS; `true` makes a certificate for this machine and the allowed hosts. @default HTTP */
  readonly tls?: Certificate | true;
}

/** A gateway and a vendor on this machine. */
export interface Emulator extends FetchEmulator {
  /**
   * Listens for HTTP or HTTPS on this machine.
   *
   * @throws {Error} if the port is taken, the host is not loopback, or it already listens.
   */
  listen(options?: ListenOptions): Promise<EmulatorAddress>;
  /** Stops listening; `fetch` still works. */
  close(): Promise<void>;
}

/** Returns an emulator that answers in this process and, if it listens, over HTTP or HTTPS. */
export function toEmulator(answer: Answer, reset: () => void): Emulator {
  let listener: Awaited<ReturnType<typeof serve>> | null = null;
  return {
    fetch: fetchBy(answer),
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
  const { host = "127.0.0.1", port = 0, warn, allowedHosts = [], tls: givenTls } = options;
  const tls = givenTls === true ? selfSignedCertificate(allowedHosts) : (givenTls ?? null);
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
  const server = tls === null ? createServer(onRequest) : await createTls(tls, onRequest);
  const protocol = tls === null ? "http" : "https";
  const { origin } = await listen(server, { host, port, warn, protocol });
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

async function createTls(
  { key, cert }: Certificate,
  onRequest: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
) {
  const { createServer } = await import("node:https");
  try {
    return createServer({ key, cert }, onRequest);
  } catch (error) {
    const message =
      "The certificate and its key cannot be used; each is a PEM file, and they belong together.";
    throw new CliError(message, { cause: error });
  }
}

function reject(outgoing: ServerResponse): void {
  const message =
    "The emulator answers to loopback names only, such as 127.0.0.1 or localhost, and to those of --allow-host.";
  const errorBody = JSON.stringify({ error: { message, type: "forbidden" } });
  outgoing.writeHead(403, { "content-type": "application/json" }).end(errorBody);
}

// Without it the receiver drops the bytes before the reset unread. Chosen, not measured.
const beforeResetMs = 50;

/** Sends a part of a response, or none, and breaks the connection of its request. */
async function breakConnection(
  response: Response,
  outgoing: ServerResponse,
  { ending, hasResponse }: Delivery,
): Promise<void> {
  if (ending === "hang") return;
  if (!hasResponse) return void outgoing.socket?.resetAndDestroy();
  const { half, length } = await toHalf(response);
  const promisedThreshold = isEventStream(response) ? {} : { "content-length": length };
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    ...promisedThreshold,
  });
  await new Promise<void>((resolve) => {
    outgoing.write(half, () => resolve());
  });
  if (ending === "cut") return void outgoing.socket?.end();
  await sleep(beforeResetMs);
  outgoing.socket?.resetAndDestroy();
}
