import { toPrintable, truncateCharacters } from "evaluator-kit";
import type { ImapFlowError } from "imapflow";

/** A command that a server refused. */
interface Refusal {
  /** The response code (RFC 5530); empty without one. */
  readonly code: string;
  /** The server's words, such as `NO [INUSE] Mailbox is in use`. */
  readonly serverWords: string;
}

const WORDS_LENGTH = 300;
/** A shorter secret would match parts of words. */
const SECRET_LENGTH = 3;

const secrets = new Set<string>();

/** Hides a secret in the words of servers, which may repeat a command. */
export function hideSecret(secret: string): void {
  if (secret.length < SECRET_LENGTH) return;
  secrets.add(secret).add(secret.replace(/["\\]/g, "\\$&"));
}

function hideSecrets(serverText: string): string {
  return [...secrets].reduce((shownText, secret) => shownText.replaceAll(secret, "…"), serverText);
}

/** Returns the words of a server for one line, without secrets, also as part of a text in base64. */
export function toServerWords(serverText: string): string {
  const shownWords = serverText
    .slice(0, 10 * WORDS_LENGTH)
    .replace(/[\w+/-]{4,}={0,2}/g, (base64Run) => {
      const decodedText = Buffer.from(base64Run, "base64").toString();
      return hideSecrets(decodedText) === decodedText ? base64Run : "…";
    });
  return truncateCharacters(toPrintable(hideSecrets(shownWords)), WORDS_LENGTH);
}

/** Returns the error with the fields that the client adds; no field for another value. */
export function toImapError(error: unknown): Partial<ImapFlowError> {
  return error instanceof Error ? error : {};
}

/** Returns the refusal that an error of the client is about; null for another error. */
export function findRefusal(error: unknown): Refusal | null {
  const { responseStatus, responseText = "", response, serverResponseCode } = toImapError(error);
  const { code, authenticationFailed } = toImapError(error);
  if (responseStatus === undefined && authenticationFailed !== true) return null;
  // Some commands leave the parsed response, others its text with the tag.
  const responseLine =
    typeof response === "string" ? response.replace(/^\S+ (?=NO|BAD)/, "") : null;
  const responseCode =
    code === "ETHROTTLE" ? "THROTTLED" : (serverResponseCode ?? responseCodeIn(response));
  const shownText = responseCode === "" ? "" : `[${responseCode}] `;
  const refusalText = responseLine ?? `${responseStatus ?? ""} ${shownText}${responseText}`;
  return { code: responseCode.toUpperCase(), serverWords: toServerWords(refusalText) };
}

function responseCodeIn(response: unknown): string {
  if (typeof response === "string") return /^\S+ \S+ \[([\w-]+)/.exec(response)?.[1] ?? "";
  const [firstAttribute] = (response as { attributes?: unknown[] } | undefined)?.attributes ?? [];
  const [codeAtom] =
    (firstAttribute as { section?: { value?: unknown }[] } | undefined)?.section ?? [];
  return typeof codeAtom?.value === "string" ? codeAtom.value : "";
}

// RFC 5530, RFC 9051, and the codes of Gmail and Yahoo.
const busyCodes = new Set(
  "THROTTLED OVERQUOTA UNAVAILABLE INUSE LIMIT SERVERBUG CONTACTADMIN".split(" "),
);
// Exchange and Gmail send these sentences without a code.
const busyWords =
  /\b(?:server unavailable|authenticated but not connected|request is throttled|too many (?:\w{1,20} )?connections|exceeded (?:command|bandwidth|rate)|lookup failed|try again (?:later|in)|temporar(?:y|ily))\b/i;
/** The words of a server without codes for its own fault (SERVERBUG). */
const faultWords = /\b(?:system|internal|server) (?:server )?error\b/i;

/** Returns whether a server asks to come back later. */
export function isBusy(error: unknown): error is Error {
  const refusal = findRefusal(error);
  if (refusal === null) return false;
  const { code, serverWords } = refusal;
  const isToldInWords = busyWords.test(serverWords) || faultWords.test(serverWords);
  return busyCodes.has(code) || (/^(?:ALERT)?$/.test(code) && isToldInWords);
}

/** Returns whether a refused FETCH may be due to one mail, not to the state of the server. */
export function mayBeOneMail(error: unknown): boolean {
  const refusal = findRefusal(error);
  if (refusal === null || !isBusy(error)) return refusal !== null;
  return /^(?:SERVERBUG|CONTACTADMIN)$/.test(refusal.code) || faultWords.test(refusal.serverWords);
}

/** Returns a sentence with the server's words behind a message; empty without words. */
export function quoteServer(serverText: string | undefined): string {
  const serverWords = toServerWords(serverText ?? "");
  return serverWords === "" ? "" : ` The server wrote: "${serverWords}"`;
}
