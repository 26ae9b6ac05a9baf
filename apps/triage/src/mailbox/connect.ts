import { CliError, type Environment, printable } from "evaluator-kit";
import { ImapFlow, type ImapFlowError, type MailboxOpenOptions } from "imapflow";
import type { MailboxAddress } from "./mailbox-url.ts";

/** Servers end a silent connection after 29 minutes (RFC 2177). */
const IDLE_MS = 25 * 60_000;

/**
 * Signs in to an account, with QRESYNC if the server has it; no folder is open then. The secret is
 * TRIAGE_IMAP_TOKEN (XOAUTH2), else TRIAGE_IMAP_PASSWORD.
 *
 * @throws CliError in one sentence; the error of a busy server unchanged.
 */
export async function connect(address: Omit<MailboxAddress, "folder">, env: Environment) {
  const { host, port, user, isSecure } = address;
  const { secret, advice } = secretOf(env);
  const client = new ImapFlow({
    host,
    port,
    secure: isSecure,
    doSTARTTLS: false, // without TLS the server is on this machine
    auth: { user, ...secret },
    logger: false,
    qresync: true,
    disableIMAP4rev2: true,
    disableAutoIdle: true,
    maxIdleTime: IDLE_MS,
  });
  client.on("error", () => undefined); // each command fails with it too
  try {
    await client.connect();
    // iCloud enables it and returns an empty list.
    if (client.capabilities.has("QRESYNC")) client.enabled.add("CONDSTORE").add("QRESYNC");
    return client;
  } catch (error) {
    client.close();
    throw toSignInError(error, { ...address, advice });
  }
}

function toSignInError(
  error: unknown,
  { advice, ...address }: Omit<MailboxAddress, "folder"> & { readonly advice: string },
): unknown {
  const { authenticationFailed, message = "" } = toImapError(error);
  const isRefused = authenticationFailed === true || message.startsWith("Unsupported auth");
  if (!isRefused || isBusy(error)) return toMailboxError(error, address);
  const { host, port, user } = address;
  const problem = printable`${host}:${String(port)} does not let ${user} in.`;
  return new CliError(`${problem} ${advice}`, { cause: error });
}

/** Opens a folder, read only unless asked for. @throws CliError if the account has no such folder. */
export async function openFolder(
  client: ImapFlow,
  { folder, account }: Pick<MailboxAddress, "folder" | "account">,
  options: MailboxOpenOptions = { readOnly: true },
) {
  try {
    return await client.mailboxOpen(folder, options);
  } catch (error) {
    if (toImapError(error).responseStatus === undefined || isBusy(error)) throw error;
    const listed = await client.list({ listOnly: true }).catch(() => []);
    const names = listed.slice(0, 20).map(({ path }) => path);
    throw new CliError(
      printable`${account} has no folder "${folder}" to read. Its folders: ${names.join(", ")}.`,
      { cause: error },
    );
  }
}

/** A connection that was not made or was cut; a later one may work. */
export class LostConnection extends CliError {}

/** Returns whether a server asks to come back later. */
export function isBusy(error: unknown): error is Error {
  const { code, serverResponseCode, responseText, response = "" } = toImapError(error);
  // For most commands the client leaves the code of a refusal in the parsed response.
  const text = [code, serverResponseCode, responseText, JSON.stringify(response)].join(" ");
  return /\b(?:ETHROTTLE|OVERQUOTA|THROTTLED|UNAVAILABLE)\b/.test(text);
}

/** Returns an error with the fields that the client adds; no field for another value. */
function toImapError(error: unknown): Partial<ImapFlowError> {
  return error instanceof Error ? error : {};
}

/** Returns the error of a connection as one sentence; that of a busy server and others unchanged. */
export function toMailboxError(
  error: unknown,
  { host, port }: Pick<MailboxAddress, "host" | "port">,
): unknown {
  const { responseStatus, code = "" } = toImapError(error);
  if (error instanceof CliError || isBusy(error)) return error;
  const [place, cause] = [`${host}:${port}`, { cause: error }];
  if (/CERT|SELF_SIGNED|UNABLE_TO/.test(code)) {
    const advice =
      "Check the host; if the server is yours, set NODE_EXTRA_CA_CERTS to its certificate.";
    return new CliError(`The certificate of ${place} is not trusted (${code}). ${advice}`, cause);
  }
  if (/SSL|EPROTO/.test(code)) {
    return new CliError(`${place} does not answer with TLS. Check the port in the URL.`, cause);
  }
  if (responseStatus !== undefined) {
    return new CliError(`${place} refused a command (${responseStatus}). Try again later.`, cause);
  }
  if (!lostCodes.test(code)) return error;
  const problem = `The connection to ${place} failed (${code}).`;
  return new LostConnection(`${problem} Check the host and the port, or try again later.`, cause);
}

const lostCodes =
  /^(?:NoConnection|EConnectionClosed|ClosedAfter\w+|\w+_TIMEOUT|ETIMEOUT|EPIPE|EAI_AGAIN|ENOTFOUND|ETIMEDOUT|ECONN\w+|E(?:HOST|NET)\w+)$/;

function secretOf(env: Environment) {
  const [accessToken, pass] = [env["TRIAGE_IMAP_TOKEN"], env["TRIAGE_IMAP_PASSWORD"]];
  if (accessToken !== undefined) {
    const advice = "The token may be expired: get a new one for TRIAGE_IMAP_TOKEN.";
    return { secret: { accessToken }, advice };
  }
  if (pass !== undefined) {
    const advice = "Check TRIAGE_IMAP_PASSWORD; many providers need an app password or a token.";
    return { secret: { pass }, advice };
  }
  throw new CliError(
    "The password of the mailbox is missing. Set TRIAGE_IMAP_PASSWORD, or TRIAGE_IMAP_TOKEN for OAuth.",
  );
}
