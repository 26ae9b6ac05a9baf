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
export async function readReply(
  fetchResponse: Response,
  apiKeys: readonly string[],
  knownValue: unknown,
) {
  const { status, headers } = fetchResponse;
  const bodyText = await fetchResponse.text();
  const publicText = `${JSON.stringify(knownValue)} ${emulatorHeader}`;
  const replyParts = [...headers].flatMap(([headerName, headerValue]) => [
    ["the name of a header", headerName],
    [`its header ${headerName}`, headerValue],
  ]);
  for (const [partPlace, partText = ""] of [...replyParts, ["its body", bodyText]]) {
    const foundKey = findKey(partText, apiKeys, publicText);
    if (foundKey !== null) throw new RecordingError(`${partPlace} holds ${foundKey}`);
  }
  const keptEntries = [...headers].filter(([headerName]) => keptHeaders.has(headerName));
  const parsedBody = parseJson(bodyText) as Answer["body"] | undefined;
  return { status, headers: Object.fromEntries(keptEntries), body: parsedBody };
}

/**
 * Writes an exchange with a live service to a file, in place of an older one. The ids in its response that
 * belong to a request or an account are replaced. Creates the folder if it is missing; a link
 * keeps its target.
 *
 * @throws {RecordingError} if the response looks private, or the file cannot be written.
 */
export async function writeExchange(
  exchangePath: string,
  exchange: Pick<Exchange, "description" | "request" | "response">,
  recordingDate: Date,
): Promise<void> {
  const { description, request } = exchange;
  const response = scrubResponse(exchange.response);
  const secretPlace = findSecretIn(response, "response");
  if (secretPlace !== null) throw new RecordingError(`it holds ${secretPlace}`);
  const recordedAt = recordingDate.toISOString().slice(0, "YYYY-MM-DD".length);
  const provenance = { source: "live", recordedAt, model: toModel(request, response) };
  const exchangeText = JSON.stringify({ description, provenance, request, response }, null, 2);
  const targetPath = await realpath(exchangePath).catch(() => missingTarget(exchangePath));
  const temporaryPath = `${targetPath}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(targetPath), { recursive: true });
    await writeFile(temporaryPath, `${exchangeText}\n`, { mode: 0o600 }); // it holds the state
    await rename(temporaryPath, targetPath);
  } catch (writeError) {
    await rm(temporaryPath, { force: true }).catch(() => undefined);
    const errorCode =
      writeError instanceof Error && "code" in writeError ? String(writeError.code) : "unknown";
    const failureReason = `${exchangePath} cannot be written (${errorCode})`;
    const next = "Choose a folder that can be written.";
    throw new RecordingError(failureReason, { next, cause: writeError });
  }
}

/** Returns the missing file that a link names; the path itself if it is no link. */
async function missingTarget(exchangePath: string): Promise<string> {
  const linkTarget = await readlink(exchangePath).catch(() => null);
  return linkTarget === null ? exchangePath : resolve(dirname(exchangePath), linkTarget);
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
const idFieldPattern =
  /^(?:[\w-]+[-_])?(?:request|generation|trace|session|team|user|account|owner|org|organization|project|api_?key)[-_]?id$/i;

/** Numbers the ids that link a response to an account's logs: `gen_recorded0001`. Answers stay unchanged. */
export function scrubResponse({ status, headers, body }: Answer): Answer {
  const newIds = new Map<string, string>();
  const renameId = (originalId: string) => {
    const idPrefix = /^(?:gen|req)_/.exec(originalId)?.[0] ?? "id_";
    const newId =
      newIds.get(originalId) ?? `${idPrefix}recorded${String(newIds.size + 1).padStart(4, "0")}`;
    newIds.set(originalId, newId);
    return newId;
  };
  const scrubText = (fieldText: string, fieldName: string) =>
    idFieldPattern.test(fieldName) ? renameId(fieldText) : fieldText.replace(serviceId, renameId);
  const scrubField = ([fieldName, fieldValue]: [string, unknown]) => {
    if (fieldName === "answers") return [fieldName, fieldValue];
    // The id of a chat's answer.
    if (fieldName === "id" && typeof fieldValue === "string")
      return [fieldName, renameId(fieldValue)];
    return [fieldName, mapTexts(fieldValue, scrubText, fieldName)];
  };
  return {
    status,
    headers: mapTexts(headers, scrubText) as Record<string, string>,
    body: isRecord(body)
      ? Object.fromEntries(Object.entries(body).map(scrubField))
      : (mapTexts(body, scrubText) as Answer["body"]),
  };
}
