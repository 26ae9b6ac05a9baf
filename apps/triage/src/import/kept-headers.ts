import { addressesIn, toOrganisation } from "../input/mail.ts";
import type { MailHeaders } from "../input/mail-schema.ts";

// A conversation is found by its first mail, or by one of the last.
const REFERENCES = 20;
/** More than a header line may have (RFC 5322, section 2.1.1). */
const HEADER_LENGTH = 1000;

/** Returns all values of a header, the one that was added last first. */
type ValuesOf = (name: string) => readonly string[];

/** Returns the headers of a mail that its record keeps for the list; undefined without one. */
export function keptHeaders(valuesOf: ValuesOf): MailHeaders | undefined {
  const first = (name: string) => valuesOf(name)[0] ?? "";
  const references = idsIn(first("references"));
  const [before = idsIn(first("in-reply-to"))[0], ...others] = references;
  const [messageId] = idsIn(`<${first("message-id").replace(/[<>\s]/g, "")}>`);
  const [replyTo] = addressesIn(first("reply-to").slice(0, HEADER_LENGTH));
  const unsubscribe = unsubscribeIn(first("list-unsubscribe"));
  const isPage = unsubscribe?.startsWith("https:") === true;
  const checks = checksIn(valuesOf);
  const keptMailHeaders: MailHeaders = {
    ...(messageId && { messageId }),
    ...(before && { references: [before, ...others.slice(-REFERENCES)] }),
    ...(replyTo && { replyTo }),
    ...(unsubscribe && { unsubscribe }),
    ...(isPage && isOneClick(first("list-unsubscribe-post")) && { oneClick: true }),
    ...(checks && { checks }),
  };
  return Object.keys(keptMailHeaders).length > 0 ? keptMailHeaders : undefined;
}

function idsIn(header: string): string[] {
  return Array.from(header.matchAll(/<([^<>\s\p{C}]{1,500})>/gu), ([, id = ""]) => id);
}

/** Returns the link of a List-Unsubscribe header (RFC 2369); a page is preferred to a mail. */
function unsubscribeIn(header: string): string | undefined {
  const links = header.replace(/[\s\p{C}]/gu, "").matchAll(/<((?:https|mailto):[^<>]{1,2000})>/giu);
  const all = Array.from(links, ([, link = ""]) => link).filter((link) => URL.canParse(link));
  return all.find((link) => /^https:/i.test(link)) ?? all[0];
}

function isOneClick(header: string): boolean {
  return /^\s*List-Unsubscribe=One-Click\s*$/i.test(header);
}

/** Returns the results of SPF, DKIM and DMARC; none if the receiving host did not write them. */
function checksIn(valuesOf: ValuesOf): MailHeaders["checks"] {
  const headers = valuesOf("authentication-results").map((value) => bareText(value).split(";"));
  const server = headers[0]?.[0]?.trim().split(/\s/)[0] ?? "";
  if (!isOfReceiver(server, valuesOf("received"))) return undefined;
  // The header that was added last decides.
  const checks = Object.assign({}, ...headers.map(resultsIn).toReversed()) as Record<
    string,
    string
  >;
  return Object.keys(checks).length > 0 ? checks : undefined;
}

// Exchange Online names no server, so its first result is the first part.
function resultsIn(parts: readonly string[]): Record<string, string> {
  const results: Record<string, string> = {};
  for (const part of parts) {
    const [, name = "", result = ""] =
      /^\s*(spf|dkim|dmarc)\s*=\s*(\w{1,20})/i.exec(part.toLowerCase()) ?? [];
    if (name !== "" && results[name] !== "pass") results[name] = result;
  }
  return results;
}

// A sender can write these headers too, but not above the first host that names itself.
function isOfReceiver(server: string, receivedNames: readonly string[]): boolean {
  const hosts = receivedNames.map(
    (line) => /\bby\s+([^\s;]{1,255})/i.exec(bareText(line))?.[1] ?? "",
  );
  const host = hosts.find((name) => /\.(?!internal|local|lan)[a-z]{2,24}$/i.test(name));
  if (host === undefined) return false;
  if (server.includes("=")) return toOrganisation(host) === "outlook.com";
  return toOrganisation(server) === toOrganisation(host);
}

function bareText(header = ""): string {
  return header.slice(0, 4 * HEADER_LENGTH).replace(/\([^()]*\)/g, " ");
}
