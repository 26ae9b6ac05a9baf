import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Fetch } from "../http/http-client.ts";
import type { Transport } from "../transports/transport.ts";
import { type Exchange, isSecretHeader } from "./exchange.ts";
import { RecordingError } from "./exchange-errors.ts";
import {
  type AskedRequest,
  type ExchangeOptions,
  folderPath,
  readAsked,
  readExchangeOptions,
  redactTexts,
  toResponse,
} from "./exchange-folder.ts";
import { findKey, findLeak } from "./find-key.ts";
import { emulatorHeader, keepHeaders, modelOf, scrubResponse } from "./recording.ts";
import { requestDigest } from "./request-match.ts";
import { findSecretIn } from "./secrets-in-json.ts";

// What is shorter, such as the "local" of an emulator, is no secret and stands in texts by chance.
const shortestKey = 8;

/** How exchanges are recorded. */
export interface RecordOptions extends ExchangeOptions {
  /** Sends to the service. @default the global fetch */
  fetch?: Fetch;
}

/**
 * Makes a transport that asks the service, with your key and at its price, and keeps each exchange as
 * one JSON file for `replay`. A call that is made again replaces its file. Failures that a retry may
 * help (429, 5xx) are not kept. What looks like a key, or a real person's address, is never written:
 * the call fails with a `RecordingError` that says where it stands.
 *
 * @param folder - Where the files go; made when it is not there.
 * @throws {ConfigurationError} when an option is wrong or the key is missing.
 * @example
 * ```ts
 * const folder = new URL("./exchanges", import.meta.url);
 * const transport = process.env.RECORD ? record(folder) : replay(folder);
 * ```
 */
export function record(folder: string | URL, options: RecordOptions = {}): Transport {
  const path = folderPath(folder);
  const { transport: make, redact } = readExchangeOptions(options);
  const { fetch: send = (url, init) => globalThis.fetch(url, init) } = options;

  async function fetch(url: string, init: RequestInit): Promise<Response> {
    const asked = readAsked(url, init, redact);
    const request = toKept(asked);
    const keys = keysIn(asked);
    const found = findKeyIn(request, keys) ?? findSecretIn(request, "request");
    checkPrivate(found, "Nothing was sent.");
    const response = await send(url, init);
    const reply = {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
    };
    const body = answerToKeep(reply);
    if (body !== undefined) {
      const publicText = `${JSON.stringify(request)} ${emulatorHeader}`;
      checkPrivate(findLeak(reply, { keys, publicText }), "The answer was not used.");
      const kept = scrubResponse({
        status: reply.status,
        headers: keepHeaders(reply.headers),
        body: redactTexts(body, redact) as Exchange["response"]["body"],
      });
      checkPrivate(findSecretIn(kept, "response"), "The answer was not used.");
      await write(path, { request, response: kept });
    }
    return toResponse(reply.text, { status: reply.status, headers: keepAll(reply.headers) });
  }

  return make({ fetch });
}

/** The request as a file holds it: of its headers those of the wire and no others. */
function toKept({ method, path, headers, body }: AskedRequest): Exchange["request"] {
  const kept = Object.entries(headers).filter(
    ([name]) => name === "content-type" || (name.startsWith("ai-") && !isSecretHeader(name)),
  );
  const ofWire = { method, path, headers: Object.fromEntries(kept) };
  return body === undefined
    ? ofWire
    : { ...ofWire, body: body as NonNullable<Exchange["request"]["body"]> };
}

/** Returns what the headers hold that no file may: the words of those that carry a key. */
function keysIn({ headers }: AskedRequest): string[] {
  return Object.entries(headers)
    .filter(([name]) => isSecretHeader(name))
    .flatMap(([, value]) => value.split(/\s+/))
    .filter((word) => word.length >= shortestKey);
}

/** Returns the body to keep; undefined where a retry may help, or the answer is not whole. */
function answerToKeep({ status, text }: { status: number; text: string }): unknown {
  if (status >= 500 || [408, 409, 425, 429].includes(status)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return status < 300 ? undefined : null;
  }
}

function findKeyIn(request: Exchange["request"], keys: readonly string[]): string | null {
  const text = JSON.stringify(request);
  const how = keys.map((key) => findKey(text, key, emulatorHeader)).find((how) => how !== null);
  return how === undefined ? null : `${how} in the request`;
}

function checkPrivate(found: string | null, consequence: string): void {
  if (found === null) return;
  const message = `The exchange is not recorded: it holds ${found}. ${consequence} Ask with made-up data (example.com is nobody's), or give record and replay an option "redact" that takes it out.`;
  throw new RecordingError(message);
}

/** The body is decoded by now, and has another length. */
function keepAll(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) kept.delete(name);
  return kept;
}

async function write(folder: string, exchange: Pick<Exchange, "request" | "response">) {
  const { request, response } = exchange;
  const recordedAt = new Date().toISOString().slice(0, "YYYY-MM-DD".length);
  const name = fileName(request);
  const file = {
    description: `What a service answered to ${name}.`,
    provenance: { source: "live", recordedAt, model: modelOf(request, response) },
    request,
    response,
  };
  const path = join(folder, `${name}.json`);
  const unfinished = `${path}.${randomUUID()}.tmp`;
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(unfinished, `${JSON.stringify(file, null, 2)}\n`);
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    throw new RecordingError(`The exchange is not recorded: ${path} cannot be written (${code}).`);
  }
}

/** Returns a name that a person can tell from others, and that is the same for the same request. */
function fileName(request: Exchange["request"]): string {
  const { path, body } = request;
  const questions = (body as { questions?: object } | undefined)?.questions ?? {};
  const ids = Object.keys(questions);
  const words = ids.length > 0 ? ids : [path.slice(path.lastIndexOf("/") + 1)];
  const slug = words.map((word) => word.slice(0, 20).replace(/[^A-Za-z0-9_]+/g, "-")).join("-");
  return `${slug.slice(0, 60).replace(/^-+|-+$/g, "") || "exchange"}-${requestDigest(request).slice(0, 12)}`;
}
