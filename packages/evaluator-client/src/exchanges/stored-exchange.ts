import { randomUUID } from "node:crypto";
import { mkdir, readlink, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { EvaluatorError, type EvaluatorErrorOptions } from "../errors.ts";
import { isRecord, textAt } from "../questions/json.ts";
import { parseJson } from "../http/http-response.ts";
import { type Exchange, mapTexts } from "./exchange.ts";
import { findKey, findSecretIn } from "./find-secrets.ts";

type Request = Exchange["request"];
type Answer = Exchange["response"];

const withoutPrivateText =
  'Ask with invented data (example.com is reserved for it), or pass an option "redact" that removes it to record and replay.';

/** An exchange could not be recorded or must not be; no file holds any part of it. */
export class RecordingError extends EvaluatorError {
  /** Such as "its body holds the key verbatim"; it repeats nothing of the exchange. */
  readonly reason: string;

  constructor(
    reason: string,
    {
      consequence = "The answer was not used.",
      next = withoutPrivateText,
      cause,
    }: Pick<EvaluatorErrorOptions, "cause"> & { consequence?: string; next?: string } = {},
  ) {
    super(`The exchange is not recorded: ${reason}. ${consequence} ${next}`, { cause });
    this.reason = reason;
  }
}

/** Marks an answer of the emulator, which is no live service. */
export const emulatorHeader = "x-evaluator-emulator";

const keptHeaders = new Set([
  "content-type",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "x-request-id",
  "x-typesafe-request-id",
  emulatorHeader,
]);

/**
 * Reads a service's reply, and returns its status, the headers that clients act on, and its parsed body:
 * undefined if it is not JSON.
 *
 * @param knownValue - The request, or another JSON value without secrets: parts of a key in it do not count.
 * @throws {RecordingError} if any header or the body holds one of the keys, also in part, escaped or in base64.
 */
export async function readReply(reply: Response, keys: readonly string[], knownValue: unknown) {
  const { status, headers } = reply;
  const text = await reply.text();
  const publicText = `${JSON.stringify(knownValue)} ${emulatorHeader}`;
  const parts = [...headers].flatMap(([name, value]) => [
    ["the name of a header", name],
    [`its header ${name}`, value],
  ]);
  for (const [where, part = ""] of [...parts, ["its body", text]]) {
    const key = findKey(part, keys, publicText);
    if (key !== null) throw new RecordingError(`${where} holds ${key}`);
  }
  const keptEntries = [...headers].filter(([name]) => keptHeaders.has(name));
  const body = parseJson(text) as Answer["body"] | undefined;
  return { status, headers: Object.fromEntries(keptEntries), body };
}

/**
 * Writes an exchange with a live service to a file, in place of an older one. The ids in its response that
 * belong to a request or an account are replaced. Creates the folder if it is missing; a link
 * keeps its target.
 *
 * @throws {RecordingError} if the response looks private, or the file cannot be written.
 */
export async function writeExchange(
  path: string,
  exchange: Pick<Exchange, "description" | "request" | "response">,
  today: Date,
): Promise<void> {
  const { description, request } = exchange;
  const response = scrubResponse(exchange.response);
  const secret = findSecretIn(response, "response");
  if (secret !== null) throw new RecordingError(`it holds ${secret}`);
  const recordedAt = today.toISOString().slice(0, "YYYY-MM-DD".length);
  const provenance = { source: "live", recordedAt, model: toModel(request, response) };
  const text = JSON.stringify({ description, provenance, request, response }, null, 2);
  const target = await realpath(path).catch(() => missingTarget(path));
  const temporaryPath = `${target}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(target), { recursive: true });
    await writeFile(temporaryPath, `${text}\n`, { mode: 0o600 }); // it holds the state
    await rename(temporaryPath, target);
  } catch (error) {
    await rm(temporaryPath, { force: true }).catch(() => undefined);
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    const reason = `${path} cannot be written (${code})`;
    const next = "Choose a folder that can be written.";
    throw new RecordingError(reason, { next, cause: error });
  }
}

/** Returns the missing file that a link names; the path itself if it is no link. */
async function missingTarget(path: string): Promise<string> {
  const link = await readlink(path).catch(() => null);
  return link === null ? path : resolve(dirname(path), link);
}

/** Returns the model that answered, else the requested one (contract sections 2.5 and 2.6). */
function toModel(request: Request, { body }: Answer): string {
  return (
    textAt(body, "model") ||
    textAt(body, "providerMetadata", "gateway", "routing", "canonicalSlug") ||
    request.headers["ai-model-id"] ||
    textAt(request.body, "model") ||
    "unknown"
  );
}

const serviceId = /\b(gen|req)_[0-9A-Za-z-]{8,}/g;
const idKey =
  /^(?:[\w-]+[-_])?(?:request|generation|trace|session|team|user|account|owner|org|organization|project|api_?key)[-_]?id$/i;

/** Numbers the ids that link a response to an account's logs: `gen_recorded0001`. Answers stay unchanged. */
export function scrubResponse({ status, headers, body }: Answer): Answer {
  const names = new Map<string, string>();
  const rename = (id: string) => {
    const prefix = /^(?:gen|req)_/.exec(id)?.[0] ?? "id_";
    const name = names.get(id) ?? `${prefix}recorded${String(names.size + 1).padStart(4, "0")}`;
    names.set(id, name);
    return name;
  };
  const scrubText = (text: string, key: string) =>
    idKey.test(key) ? rename(text) : text.replace(serviceId, rename);
  const scrubField = ([key, value]: [string, unknown]) => {
    if (key === "answers") return [key, value];
    // The id of a chat's answer.
    if (key === "id" && typeof value === "string") return [key, rename(value)];
    return [key, mapTexts(value, scrubText, key)];
  };
  return {
    status,
    headers: mapTexts(headers, scrubText) as Record<string, string>,
    body: isRecord(body)
      ? Object.fromEntries(Object.entries(body).map(scrubField))
      : (mapTexts(body, scrubText) as Answer["body"]),
  };
}
