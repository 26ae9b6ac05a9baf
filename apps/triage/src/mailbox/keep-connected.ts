import { type CliContext, printable } from "evaluator-kit";
import { interrupted, pause } from "evaluator-runs/commands";
import { printDuration } from "evaluator-runs/source";
import type { ImapFlow } from "imapflow";
import { connect, isBusy, LostConnection, toMailboxError } from "./connect.ts";
import type { MailboxAddress } from "./mailbox-url.ts";

const MOST_MS = 300_000;

/** Returns how long to wait after a failure, in milliseconds; null if the next attempt would fail too. */
export function retryDelayMs(error: unknown, attempt: number): number | null {
  if (isBusy(error)) return toldDelayMs(error) ?? Math.min(5000 * 2 ** attempt, MOST_MS);
  return error instanceof LostConnection ? Math.min(1000 * 2 ** attempt, MOST_MS) : null;
}

// "Suggested Backoff Time: 92415 milliseconds", "try again in 60 seconds".
function toldDelayMs(error: Error): number | null {
  const texts = Object.values(error).filter((value) => typeof value === "string");
  const [, count, unit] =
    /\b(\d{1,9}) ?(ms|milliseconds|s|seconds?)\b/i.exec(texts.join(" ")) ?? [];
  return count === undefined ? null : Number(count) * (/^m/i.test(unit ?? "") ? 1 : 1000);
}

/** What to do with a connection. */
interface ConnectedUse<TResult> {
  /** Whether a cut connection is opened again, once one was of use. */
  readonly isLasting: boolean;
  /** Calls `onUseful` when the next failure counts as the first. */
  readonly use: (client: ImapFlow, onUseful: () => void) => Promise<TResult>;
}

/** Connects and uses the connection, again as long as the server is busy. @throws CliError */
export async function keepConnected<TResult>(
  address: MailboxAddress,
  { isLasting, use }: ConnectedUse<TResult>,
  context: CliContext,
): Promise<TResult> {
  const { signal, stderr } = context;
  let [attempt, wasUseful] = [0, false];
  const onUseful = () => void ([attempt, wasUseful] = [0, true]);
  for (;;) {
    try {
      return await connectOnce(address, (client) => use(client, onUseful), context);
    } catch (thrown) {
      const stopped = "Interrupted; the mails that were read are kept.";
      if (signal.aborted) throw interrupted(stopped, signal);
      const error = toMailboxError(thrown, address);
      const delayMs = retryDelayMs(error, attempt);
      const isOver = error instanceof LostConnection && !(isLasting && wasUseful);
      if (delayMs === null || isOver) throw error;
      const problem = error instanceof LostConnection ? "cut the connection" : "is busy";
      stderr.write(printable`${address.host} ${problem}; goes on in ${printDuration(delayMs)}.\n`);
      await pause(delayMs, context);
      attempt += 1;
    }
  }
}

async function connectOnce<TResult>(
  address: MailboxAddress,
  use: (client: ImapFlow) => Promise<TResult>,
  { env, signal }: CliContext,
): Promise<TResult> {
  signal.throwIfAborted();
  const client = await connect(address, env);
  const close = () => client.close();
  signal.addEventListener("abort", close);
  try {
    const result = await use(client);
    await client.logout();
    return result;
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}
