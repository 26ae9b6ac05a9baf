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

const form = "imaps://USER@HOST/FOLDER, such as imaps://ada@imap.example.com/INBOX";

/** Returns whether a word names a mailbox on a server and not a file. */
export function isMailboxUrl(word: string): boolean {
  return /^imaps?:/i.test(word);
}

/** Refuses words with a password in the URL of a mailbox; the message does not repeat it. */
export function refusePasswords(words: readonly string[]): void {
  const password = /imaps?:\/\/(?:[^@/]*:[^@]+@|[^/]*:[^/@]+@)/i;
  if (words.some((word) => password.test(word.slice(0, 1000)))) {
    throw new UsageError("The URL has a password; set TRIAGE_IMAP_PASSWORD instead.");
  }
}

/**
 * Parses the URL of a folder; user and folder are percent-encoded.
 *
 * @throws UsageError that quotes nothing of the URL but its host.
 */
export function parseMailboxUrl(text: string): MailboxAddress {
  refusePasswords([text]);
  const url = URL.parse(text);
  const problem = url === null ? "is not valid" : findProblem(url);
  if (url === null || problem !== null) {
    throw new UsageError(`The URL of a mailbox ${problem}. Write ${form}.`);
  }
  const isSecure = url.protocol === "imaps:";
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (!isSecure && !isLoopbackHost(host)) {
    throw new UsageError(`imap:// has no TLS, and ${host} is another machine. Use imaps://.`);
  }
  const [user, folder] = [decode(url.username), decode(url.pathname.slice(1))];
  const port = url.port === "" ? "" : `:${url.port}`;
  const account = `${url.protocol}//${encodeURIComponent(user)}@${toHostname(host)}${port}`;
  return {
    user,
    host,
    port: Number(url.port) || (isSecure ? 993 : 143),
    folder,
    isSecure,
    account,
  };
}

/** Returns user and host of an account, such as `ada@imap.example.com`; another text unchanged. */
export function accountName(account: string): string {
  const url = isMailboxUrl(account) ? URL.parse(account) : null;
  return url === null ? account : `${decode(url.username)}@${url.hostname}`;
}

/** Returns whether two URLs name one account, such as with and without the default port. */
export function isSameAccount(one: string, other: string): boolean {
  const [first, second] = [one, other].map((account) => parseMailboxUrl(`${account}/INBOX`));
  return (["user", "host", "port", "isSecure"] as const).every(
    (name) => first?.[name] === second?.[name],
  );
}

function findProblem({ protocol, username, hostname, pathname, search, hash }: URL): string | null {
  if (!["imap:", "imaps:"].includes(protocol)) return "does not begin with imaps://";
  if (hostname === "") return "has no host";
  if (username === "") return "has no user";
  if (pathname.length < 2) return "has no folder";
  if (search !== "" || hash !== "") return "has a ? or #, which is %3F or %23 in a folder";
  const isOdd = [username, pathname].some((name) => /^$|\p{Cc}/u.test(decode(name)));
  return isOdd ? "has a broken % or a control character" : null;
}

/** Returns an empty text if a name is not percent-encoded UTF-8. */
function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return "";
  }
}
