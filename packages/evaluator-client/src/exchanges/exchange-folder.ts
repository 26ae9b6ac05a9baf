import { hash } from "node:crypto";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod/mini";
import { checkOptions, optionsObject } from "../options.ts";
import type { Environment } from "../environment.ts";
import type { Fetch } from "../http/http-client.ts";
import { isRecord } from "../questions/json.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import type { Transport } from "../transports/transport.ts";

/** What the transport that is recorded or replayed has to be made with. */
export interface OwnTransportOptions {
  /** Sends to the service and keeps the exchange, or answers from the folder. */
  fetch: Fetch;
  /** Stands for the key where there is no service. */
  apiKey?: string;
  /** Empty where there is no service, so that a test means the same on every machine. */
  env?: Environment;
}

/** How exchanges are made and compared; the same for recording and replaying. */
export interface ExchangeOptions {
  /**
   * Makes the transport from what it is given and options of yours, such as
   * `(own) => gatewayTransport({ ...own, modelId: "…" })`. @default gatewayTransport
   */
  transport?: (own: OwnTransportOptions) => Transport;
  /** Returns a text of a state, question or answer as it may stand in a file. @default unchanged */
  redact?: (text: string) => string;
}

const isFunction = (value: unknown) => typeof value === "function";
// `replay` ignores `fetch`, so that a test can hand the same options to both.
const optionsSchema = optionsObject({
  transport: z.optional(z.custom(isFunction, "it is a function, such as directTransport")),
  redact: z.optional(z.custom(isFunction, "it is a function from text to text")),
  fetch: z.optional(z.custom(isFunction, "it is a function, such as the global fetch")),
});

/** Returns the options with their defaults. @throws {ConfigurationError} when one is wrong. */
export function readExchangeOptions(options: ExchangeOptions): Required<ExchangeOptions> {
  checkOptions(optionsSchema, options);
  const { transport = (own) => gatewayTransport(own), redact = (text) => text } = options;
  return { transport, redact };
}

/** Returns the path of a folder; a relative one is from where the program was started. */
export function folderPath(folder: string | URL): string {
  return resolve(folder instanceof URL ? fileURLToPath(folder) : folder);
}

/** What a transport hands to `fetch`, as far as exchanges need it. */
export interface AskedRequest {
  readonly method: "GET" | "POST";
  /** With its query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON body after `redact`; undefined where there is none. */
  readonly body: unknown;
}

/** Reads what a transport hands to `fetch`. */
export function readAsked(
  url: string,
  init: RequestInit,
  redact: (text: string) => string,
): AskedRequest {
  const { pathname, search } = new URL(url);
  const body = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
  return {
    method: init.method === "GET" ? "GET" : "POST",
    path: pathname + search,
    headers: Object.fromEntries(new Headers(init.headers)),
    body: redactTexts(body, (text) => redact(imageDigest(text) ?? text)),
  };
}

/**
 * Returns what stands for the bytes of an image, in base64 or as a data: URL, or null where a text is
 * none: megabytes belong in no file of exchanges, and two images are told apart by their digests.
 */
function imageDigest(text: string): string | null {
  const start = /^(?:data:image\/\w+;base64,)?(?:iVBORw0KGg|\/9j\/|R0lGOD|UklGR)/.exec(text);
  if (start === null || /[^A-Za-z0-9+/=]/.test(text.slice(text.indexOf(",") + 1))) return null;
  return `image sha256:${hash("sha256", text).slice(0, 16)}`;
}

/** Returns a JSON value with each of its texts, keys left alone, as `redact` returns it. */
export function redactTexts(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactTexts(item, redact));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, redactTexts(item, redact)]),
  );
}

/** Returns the response that a transport reads; one without content has no body at all. */
export function toResponse(
  text: string,
  { status, headers }: { status: number; headers: Headers | Record<string, string> },
): Response {
  const isEmpty = [204, 205, 304].includes(status);
  return new Response(isEmpty ? null : text, { status, headers });
}
