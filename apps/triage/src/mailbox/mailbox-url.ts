import { isLoopbackHost, toHostname, UsageError } from "evaluator-kit";

/** A folder of a mail account on an IMAP server. */
export interface MailboxAddress {
  readonly user: string;
  readonly host: string;
  readonly port: number;
  readonly folder: string;
  /** Whether the connection has TLS. */
  readonly isSecure: boolean;
  /** The URL without the folder, such as `imaps://ada%40example.com@imap.example.com`. */
  readonly account: string;
}

const urlForm = "imaps://USER@HOST/FOLDER, such as imaps://ada@imap.example.com/INBOX";

/** Returns whether a word names a mailbox on a server and not a file. */
export function isMailboxUrl(argument: string): boolean {
  return /^imaps?:/i.test(argument);
}

/** Refuses words with a password in the URL of a mailbox; the message does not repeat it. */
export function refusePasswords(commandWords: readonly string[]): void {
  const password = /imaps?:\/\/(?:[^@/]*:[^@]+@|[^/]*:[^/@]+@)/i;
  if (commandWords.some((commandWord) => password.test(commandWord.slice(0, 1000)))) {
    throw new UsageError("Set TRIAGE_IMAP_PASSWORD instead of a password in the URL.");
  }
}

/**
 * Parses the URL of a folder; user and folder are percent-encoded.
 *
 * @throws UsageError that quotes nothing of the URL but its host.
 */
export function parseMailboxUrl(urlText: string): MailboxAddress {
  refusePasswords([urlText]);
  const mailboxUrl = URL.parse(urlText);
  const problem = mailboxUrl === null ? "is not valid" : findProblem(mailboxUrl);
  if (mailboxUrl === null || problem !== null) {
    throw new UsageError(`The URL of a mailbox ${problem}. Write ${urlForm}.`);
  }
  const isSecure = mailboxUrl.protocol === "imaps:";
  const hostName = mailboxUrl.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (!isSecure && !isLoopbackHost(hostName)) {
    throw new UsageError(`imap:// to ${hostName} has no TLS. Use imaps://.`);
  }
  const [userName, folderPath] = [
    decodePart(mailboxUrl.username),
    decodePart(mailboxUrl.pathname.slice(1)),
  ];
  const portText = mailboxUrl.port === "" ? "" : `:${mailboxUrl.port}`;
  const account = `${mailboxUrl.protocol}//${encodeURIComponent(userName)}@${toHostname(hostName)}${portText}`;
  return {
    user: userName,
    host: hostName,
    port: Number(mailboxUrl.port) || (isSecure ? 993 : 143),
    folder: folderPath,
    isSecure,
    account,
  };
}

/** Returns user and host of an account, such as `ada@imap.example.com`; another text unchanged. */
export function accountName(account: string): string {
  const accountUrl = isMailboxUrl(account) ? URL.parse(account) : null;
  return accountUrl === null
    ? account
    : `${decodePart(accountUrl.username)}@${accountUrl.hostname}`;
}

/** Returns whether two URLs name one account, such as with and without the default port. */
export function isSameAccount(oneAccount: string, otherAccount: string): boolean {
  const [firstAddress, secondAddress] = [oneAccount, otherAccount].map((account) =>
    parseMailboxUrl(`${account}/INBOX`),
  );
  return (["user", "host", "port", "isSecure"] as const).every(
    (fieldName) => firstAddress?.[fieldName] === secondAddress?.[fieldName],
  );
}

function findProblem({ protocol, username, hostname, pathname, search, hash }: URL): string | null {
  if (!["imap:", "imaps:"].includes(protocol)) return "does not begin with imaps://";
  if (hostname === "") return "has no host";
  if (username === "") return "has no user";
  if (pathname.length < 2) return "has no folder";
  if (search !== "" || hash !== "") return "has a ? or #; write %3F or %23";
  const isOdd = [username, pathname].some((urlPart) => /^$|\p{Cc}/u.test(decodePart(urlPart)));
  return isOdd ? "has a broken % or a control character" : null;
}

/** Returns an empty text if a name is not percent-encoded UTF-8. */
function decodePart(encodedPart: string): string {
  try {
    return decodeURIComponent(encodedPart);
  } catch {
    return "";
  }
}
