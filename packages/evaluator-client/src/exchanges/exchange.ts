import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod/mini";
import type { Environment } from "../environment.ts";
import type { Fetch } from "../http/http-client.ts";
import { parseJson } from "../http/http-response.ts";
import { checkOptions, optionsObject } from "../options.ts";
import { isRecord } from "../questions/json.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import type { Transport } from "../transports/transport.ts";
import { isSecretHeader } from "./find-secrets.ts";

const headerNameSchema = z.string().check(
  z.regex(/^[a-z0-9-]+$/),
  z.refine((headerName) => !isSecretHeader(headerName)),
);
const headersSchema = z.record(headerNameSchema, z.string(), {
  error: ({ code }) =>
    code === "invalid_key"
      ? "expected a lower-case header name that never carries a key"
      : undefined,
});

const someText = z.string().check(z.minLength(1));
const provenanceSchema = z.discriminatedUnion("source", [
  z.strictObject({ source: z.literal("contract"), section: someText }),
  z.strictObject({ source: z.literal("live"), recordedAt: z.iso.date(), model: someText }),
]);

// Parsed JSON is not validated again, which halves the time to read a file.
const parsedJson = z.custom<z.core.util.JSONType>((value) => value !== undefined, {
  error: "expected JSON",
});

const exchangeSchema = z.strictObject({
  description: someText,
  provenance: provenanceSchema,
  request: z.strictObject({
    method: z.enum(["GET", "POST"]),
    path: z.string().check(z.startsWith("/")),
    headers: headersSchema,
    body: z.optional(parsedJson),
  }),
  response: z.strictObject({
    status: z.int().check(z.gte(200), z.lte(599)),
    headers: headersSchema,
    body: parsedJson,
  }),
});

/** One recorded request and its response; the name is the file's path in its folder without `.json`. */
export type Exchange = z.infer<typeof exchangeSchema> & { name: string };

/**
 * Reads every exchange file of a folder and its subfolders, sorted by name.
 *
 * @throws {Error} if a file is invalid; names the file and the field.
 */
export function loadExchanges(exchangesFolder: string): Exchange[] {
  return readdirSync(exchangesFolder, { recursive: true, encoding: "utf8" })
    .filter((relativePath) => relativePath.endsWith(".json"))
    .map((relativePath) => relativePath.slice(0, -".json".length).split(sep).join("/"))
    .toSorted()
    .map((exchangeName) => readExchange(exchangesFolder, exchangeName));
}

function readExchange(exchangesFolder: string, exchangeName: string): Exchange {
  const exchangeFile = join(exchangesFolder, `${exchangeName}.json`);
  const exchangeJson = parseJson(readFileSync(exchangeFile, "utf8"));
  if (exchangeJson === undefined) throw new Error(`${exchangeFile} is not JSON.`);
  const { data, error } = exchangeSchema.safeParse(exchangeJson);
  if (data !== undefined) return { name: exchangeName, ...data };
  const [firstIssue] = error.issues;
  throw new Error(
    `${exchangeFile} is not an exchange: ${firstIssue?.path.join(".")}: ${firstIssue?.message}`,
  );
}

/** The options that a recorded or replayed transport must be made with. */
export interface OwnTransportOptions {
  /** Sends to the service and records the exchange, or answers from the folder. */
  fetch: Fetch;
  /** A placeholder for the key, if there is no service. */
  apiKey?: string | undefined;
  /** Empty if there is no service, so that a test gives the same result on every machine. */
  env?: Environment | undefined;
}

/** How exchanges are made and compared; use the same options to record and to replay. */
export interface ExchangeOptions {
  /**
   * Makes the transport from these options and your own, such as
   * `(own) => gatewayTransport({ ...own, modelId: "…" })`. @default gatewayTransport
   */
  transport?: ((ownOptions: OwnTransportOptions) => Transport) | undefined;
  /** Returns the text to store for a text of a state, question or answer. @default unchanged */
  redact?: ((text: string) => string) | undefined;
}

const isFunction = (value: unknown) => typeof value === "function";
// `replay` ignores `fetch`, so that a test can pass the same options to both.
const optionsSchema = optionsObject({
  transport: z.optional(z.custom(isFunction, "it is a function, such as directTransport")),
  redact: z.optional(z.custom(isFunction, "it is a function from text to text")),
  fetch: z.optional(z.custom(isFunction, "it is a function, such as the global fetch")),
});

/** Returns checked options with their defaults, and the folder's path. */
export function readExchangeOptions(exchangesFolder: string | URL, options: ExchangeOptions) {
  checkOptions(optionsSchema, options);
  const { transport = gatewayTransport, redact = (text: string) => text } = options;
  const absoluteFolder = resolve(
    exchangesFolder instanceof URL ? fileURLToPath(exchangesFolder) : exchangesFolder,
  );
  return { make: transport, redact, path: absoluteFolder };
}

/** A request of a transport, as exchanges are compared with it. */
export interface AskedRequest extends Pick<Exchange["request"], "path" | "headers"> {
  readonly method: string;
  /** The parsed JSON body; undefined without one. */
  readonly body?: unknown;
}

/** Reads the request that a transport passes to `fetch`, with its texts redacted. */
export function readAsked(
  requestUrl: string,
  requestInit: RequestInit,
  redactText: (bodyText: string) => string,
): AskedRequest {
  const { pathname, search } = new URL(requestUrl);
  const requestBody =
    typeof requestInit.body === "string" ? JSON.parse(requestInit.body) : undefined;
  return {
    method: requestInit.method ?? "GET",
    path: pathname + search,
    headers: Object.fromEntries(new Headers(requestInit.headers)),
    body: mapTexts(requestBody, (bodyText) => redactText(imageDigest(bodyText) ?? bodyText)),
  };
}

/** Replaces an image in base64 or as a data: URL by its digest, to keep files small; null for other texts. */
function imageDigest(fieldText: string): string | null {
  const imageStart = /^(?:data:image\/\w+;base64,)?(?:iVBORw0KGg|\/9j\/|R0lGOD|UklGR)/.exec(
    fieldText,
  );
  if (imageStart === null || /[^A-Za-z0-9+/=]/.test(fieldText.slice(fieldText.indexOf(",") + 1)))
    return null;
  return `image sha256:${hash("sha256", fieldText).slice(0, 16)}`;
}

/** Replaces every text of a JSON value except keys; the items of a list get the key of the list. */
export function mapTexts(
  jsonValue: unknown,
  replaceText: (text: string, fieldName: string) => string,
  fieldName = "",
): unknown {
  if (typeof jsonValue === "string") return replaceText(jsonValue, fieldName);
  if (Array.isArray(jsonValue))
    return jsonValue.map((listItem) => mapTexts(listItem, replaceText, fieldName));
  if (!isRecord(jsonValue)) return jsonValue;
  const entries = Object.entries(jsonValue).map(([fieldName, fieldValue]) => [
    fieldName,
    mapTexts(fieldValue, replaceText, fieldName),
  ]);
  return Object.fromEntries(entries);
}
