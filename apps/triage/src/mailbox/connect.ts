import { type CliContext, CliError, type Environment, printable } from "evaluator-kit";
import { ImapFlow, type MailboxOpenOptions } from "imapflow";
import { keepNames } from "./folder-names.ts";
import type { MailboxAddress } from "./mailbox-url.ts";
import {
  hideSecret,
  isBusy,
  quoteServer,
  findRefusal,
  toImapError,
  toServerWords,
} from "./refusals.ts";

/** Servers end a silent connection after 29 minutes (RFC 2177). */
const IDLE_MS = 25 * 60_000;

const lastFailures = new WeakMap<ImapFlow, unknown>();

/**
 * Signs in to an account, with QRESYNC if the server has it; no folder is open then. The secret is
 * TRIAGE_IMAP_TOKEN (XOAUTH2), else TRIAGE_IMAP_PASSWORD. Alerts of the server are printed.
 *
 * Only a server on this machine may lack TLS. If it wants STARTTLS, as a local bridge does, its
 * certificate is not checked: the connection is still more private than without TLS.
 *
 * @throws CliError in one sentence; the error of a busy server unchanged.
 */
export async function connect(
  address: Omit<MailboxAddress, "folder">,
  { env, stderr }: Pick<CliContext, "env" | "stderr">,
): Promise<ImapFlow> {
  const { secret, advice } = toSecret(env);
  hideSecret(Object.values(secret).join(""));
  const openConnection = async (isUpgraded: boolean): Promise<ImapFlow> => {
    const client = createClient(address, { secret, isUpgraded });
    // Users must see them (RFC 9051, section 7.1).
    client.on("alert", ({ message }) => {
      stderr.write(printable`${address.host} writes: ${toServerWords(message)}` + "\n");
    });
    return await signIn(client).catch(async (error: unknown) => {
      const canUpgrade = !address.isSecure && !isUpgraded && client.capabilities.has("STARTTLS");
      if (canUpgrade && wantsTls(error)) return await openConnection(true);
      throw error;
    });
  };
  try {
    return await openConnection(false);
  } catch (error) {
    throw toSignInError(error, { ...address, advice });
  }
}

interface ClientOptions {
  readonly secret: ReturnType<typeof toSecret>["secret"];
  /** Whether the connection begins without TLS and gets it by STARTTLS. */
  readonly isUpgraded: boolean;
}

function createClient(
  { host, port, user, isSecure }: Omit<MailboxAddress, "folder">,
  { secret, isUpgraded }: ClientOptions,
): ImapFlow {
  const client: ImapFlow = new ImapFlow({
    host,
    port,
    secure: isSecure,
    doSTARTTLS: isUpgraded,
    ...(isUpgraded && { tls: { rejectUnauthorized: false } }),
    auth: { user, ...secret },
    // Some methods return false for a refusal, and its words are in the log alone.
    logger: toLogger((error) => lastFailures.set(client, error)),
    qresync: true,
    disableIMAP4rev2: true,
    disableAutoIdle: true,
    maxIdleTime: IDLE_MS,
  });
  return client.on("error", () => undefined); // each command fails with it too
}

async function signIn(client: ImapFlow): Promise<ImapFlow> {
  try {
    await client.connect();
  } catch (error) {
    client.close();
    throw error;
  }
  // iCloud enables it and returns an empty list.
  if (client.capabilities.has("QRESYNC")) client.enabled.add("CONDSTORE").add("QRESYNC");
  keepNames(client);
  return client;
}

const loginDisabled = "Login is disabled";

/** Returns whether a server refuses to sign in without TLS. */
function wantsTls(error: unknown): boolean {
  return (
    toImapError(error).message === loginDisabled || findRefusal(error)?.code === "PRIVACYREQUIRED"
  );
}

const ignoreLog = () => undefined;
const isLevelEnabled = (logLevel: string) => logLevel === "warn";

function toLogger(onFailure: (error: unknown) => void) {
  const warn = ({ err }: { readonly err?: unknown }) => {
    if (findRefusal(err) !== null) onFailure(err);
  };
  return {
    debug: ignoreLog,
    info: ignoreLog,
    warn,
    error: ignoreLog,
    fatal: ignoreLog,
    isLevelEnabled,
  };
}

/** Returns the refusal of a command that returned false, once. */
export function takeRefusal(client: ImapFlow): unknown {
  const refusal = lastFailures.get(client);
  lastFailures.delete(client);
  return refusal;
}

/** Codes of a refusal that a right password or token would change (RFC 5530); empty without a code. */
const passwordCodes = /^(?:AUTHENTICATIONFAILED|AUTHORIZATIONFAILED|EXPIRED)?$/;

function toSignInError(
  error: unknown,
  { advice, ...address }: Omit<MailboxAddress, "folder"> & { readonly advice: string },
): unknown {
  const { authenticationFailed, message = "" } = toImapError(error);
  const isRefused = authenticationFailed === true || message.startsWith("Unsupported auth");
  if (!isRefused || isBusy(error)) return toMailboxError(error, address);
  const { host, port, user } = address;
  const { code = "", serverWords = "" } = findRefusal(error) ?? {};
  const isDisabled = message === loginDisabled;
  const problem = isDisabled
    ? printable`${host}:${String(port)} needs TLS for a password. Use imaps://.`
    : printable`${host}:${String(port)} does not let ${user} in.`;
  const isSecret = !isDisabled && passwordCodes.test(code);
  return new CliError(problem + (isSecret ? ` ${advice}` : "") + quoteServer(serverWords), {
    cause: error,
  });
}

/** A folder that an account does not have. */
export class MissingFolder extends CliError {}

/** Opens a folder by its name on the server, read only unless asked for. @throws MissingFolder */
export async function openFolder(
  client: ImapFlow,
  { folder, account }: Pick<MailboxAddress, "folder" | "account">,
  options: MailboxOpenOptions = { readOnly: true },
) {
  try {
    return await client.mailboxOpen(folder, options);
  } catch (error) {
    const { code = "", serverWords } = findRefusal(error) ?? {};
    if (serverWords === undefined || isBusy(error)) throw error;
    const isMissing =
      code === "NONEXISTENT" ||
      (await client.status(folder, { uidValidity: true }).then(() => false, isNotFound));
    if (isMissing) throw new MissingFolder(printable`${account} has no folder "${folder}" now.`);
    const problem = printable`${account} does not open the folder "${folder}".`;
    throw new CliError(problem + quoteServer(serverWords), { cause: error });
  }
}

function isNotFound(error: unknown): boolean {
  return toImapError(error).code === "NotFound";
}

/** A connection that was not made or was cut; a later one may work. */
export class LostConnection extends CliError {}

/** Returns the error of a connection as one sentence; that of a busy server and others unchanged. */
export function toMailboxError(
  error: unknown,
  { host, port }: Pick<MailboxAddress, "host" | "port">,
): unknown {
  const { code = "", ...failure } = toImapError(error);
  const refusal = findRefusal(error);
  if (error instanceof CliError || isBusy(error)) return error;
  const [hostAndPort, errorOptions] = [`${host}:${port}`, { cause: error }];
  if (/CERT|SELF_SIGNED|UNABLE_TO/.test(code)) {
    const advice = "Check the host, or set NODE_EXTRA_CA_CERTS to its certificate.";
    return new CliError(
      `The certificate of ${hostAndPort} is not trusted (${code}). ${advice}`,
      errorOptions,
    );
  }
  if (/SSL|EPROTO/.test(code)) {
    return new CliError(`${hostAndPort} has no TLS. Check the port.`, errorOptions);
  }
  if (refusal !== null) {
    const problem = `${hostAndPort} refused a command (${failure.responseStatus ?? "NO"}).`;
    return new CliError(
      `${problem} Try again later.${quoteServer(refusal.serverWords)}`,
      errorOptions,
    );
  }
  if (!lostCodes.test(code)) return error;
  const problem = `The connection to ${hostAndPort} failed (${code}). Check host and port, or try later.`;
  return new LostConnection(problem + quoteServer(toByeWords(error)), errorOptions);
}

// The client keeps the words of a BYE here.
function toByeWords(error: unknown): string {
  const { reason } = error as { readonly reason?: unknown };
  return typeof reason === "string" ? reason : "";
}

const lostCodes =
  /^(?:NoConnection|EConnectionClosed|ClosedAfter\w+|\w+_TIMEOUT|ETIMEOUT|EPIPE|EAI_AGAIN|ENOTFOUND|ETIMEDOUT|ECONN\w+|E(?:HOST|NET)\w+)$/;

function toSecret(env: Environment) {
  const [accessToken, password] = [env["TRIAGE_IMAP_TOKEN"], env["TRIAGE_IMAP_PASSWORD"]];
  if (accessToken !== undefined) {
    const advice = "The token may be expired: renew TRIAGE_IMAP_TOKEN.";
    return { secret: { accessToken }, advice };
  }
  if (password !== undefined) {
    const advice = "Check TRIAGE_IMAP_PASSWORD; many providers need an app password or token.";
    return { secret: { pass: password }, advice };
  }
  throw new CliError("Set TRIAGE_IMAP_PASSWORD, or TRIAGE_IMAP_TOKEN for OAuth.");
}
