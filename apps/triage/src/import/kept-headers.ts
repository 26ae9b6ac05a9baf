import { addressesIn, toOrganisation } from "../input/mail.ts";
import type { MailHeaders } from "../input/mail-schema.ts";

// A conversation is found by its first mail, or by one of the last.
const REFERENCES = 20;
/** More than a header line may have (RFC 5322, section 2.1.1). */
const HEADER_LENGTH = 1000;

/** Returns all values of a header, the one that was added last first. */
type ValuesOf = (headerName: string) => readonly string[];

/** Returns the headers of a mail that its record keeps for the list; undefined without one. */
export function keptHeaders(valuesOf: ValuesOf): MailHeaders | undefined {
  const firstValue = (headerName: string) => valuesOf(headerName)[0] ?? "";
  const references = listIds(firstValue("references"));
  const [earliestId = listIds(firstValue("in-reply-to"))[0], ...laterIds] = references;
  const [messageId] = listIds(`<${firstValue("message-id").replace(/[<>\s]/g, "")}>`);
  const [replyTo] = addressesIn(firstValue("reply-to").slice(0, HEADER_LENGTH));
  const unsubscribe = unsubscribeIn(firstValue("list-unsubscribe"));
  const isWebPage = unsubscribe?.startsWith("https:") === true;
  const checkResults = checksIn(valuesOf);
  const keptMailHeaders: MailHeaders = {
    ...(messageId && { messageId }),
    ...(earliestId && { references: [earliestId, ...laterIds.slice(-REFERENCES)] }),
    ...(replyTo && { replyTo }),
    ...(unsubscribe && { unsubscribe }),
    ...(isWebPage && isOneClick(firstValue("list-unsubscribe-post")) && { oneClick: true }),
    ...(checkResults && { checks: checkResults }),
  };
  return Object.keys(keptMailHeaders).length > 0 ? keptMailHeaders : undefined;
}

function listIds(headerText: string): string[] {
  return Array.from(
    headerText.matchAll(/<([^<>\s\p{C}]{1,500})>/gu),
    ([, messageId = ""]) => messageId,
  );
}

/** Returns the link of a List-Unsubscribe header (RFC 2369); a page is preferred to a mail. */
function unsubscribeIn(headerText: string): string | undefined {
  const linkMatches = headerText
    .replace(/[\s\p{C}]/gu, "")
    .matchAll(/<((?:https|mailto):[^<>]{1,2000})>/giu);
  const allLinks = Array.from(linkMatches, ([, linkText = ""]) => linkText).filter((linkText) =>
    URL.canParse(linkText),
  );
  return allLinks.find((linkText) => /^https:/i.test(linkText)) ?? allLinks[0];
}

function isOneClick(headerText: string): boolean {
  return /^\s*List-Unsubscribe=One-Click\s*$/i.test(headerText);
}

/** Returns the results of SPF, DKIM and DMARC; none if the receiving host did not write them. */
function checksIn(valuesOf: ValuesOf): MailHeaders["checks"] {
  const headers = valuesOf("authentication-results").map((headerValue) =>
    bareText(headerValue).split(";"),
  );
  const serverName = headers[0]?.[0]?.trim().split(/\s/)[0] ?? "";
  if (!isOfReceiver(serverName, valuesOf("received"))) return undefined;
  // The header that was added last decides.
  const checkResults = Object.assign({}, ...headers.map(resultsIn).toReversed()) as Record<
    string,
    string
  >;
  return Object.keys(checkResults).length > 0 ? checkResults : undefined;
}

// Exchange Online names no server, so its first result is the first part.
function resultsIn(resultParts: readonly string[]): Record<string, string> {
  const results: Record<string, string> = {};
  for (const resultPart of resultParts) {
    const [, checkName = "", checkResult = ""] =
      /^\s*(spf|dkim|dmarc)\s*=\s*(\w{1,20})/i.exec(resultPart.toLowerCase()) ?? [];
    if (checkName !== "" && results[checkName] !== "pass") results[checkName] = checkResult;
  }
  return results;
}

// A sender can write these headers too, but not above the first host that names itself.
function isOfReceiver(serverName: string, receivedNames: readonly string[]): boolean {
  const hostNames = receivedNames.map(
    (receivedLine) => /\bby\s+([^\s;]{1,255})/i.exec(bareText(receivedLine))?.[1] ?? "",
  );
  const hostName = hostNames.find((candidate) =>
    /\.(?!internal|local|lan)[a-z]{2,24}$/i.test(candidate),
  );
  if (hostName === undefined) return false;
  if (serverName.includes("=")) return toOrganisation(hostName) === "outlook.com";
  return toOrganisation(serverName) === toOrganisation(hostName);
}

function bareText(headerText = ""): string {
  return headerText.slice(0, 4 * HEADER_LENGTH).replace(/\([^()]*\)/g, " ");
}
