import { type CliContext, pause, printable } from "evaluator-kit";
import { interrupted } from "evaluator-runs/commands";
import { printDuration } from "evaluator-runs/source";
import type { ImapFlow } from "imapflow";
import { connect, LostConnection, toMailboxError } from "./connect.ts";
import type { MailboxAddress } from "./mailbox-url.ts";
import { isBusy, quoteServer, findRefusal } from "./refusals.ts";

const MOST_MS = 300_000;

/** Returns how long to wait after a failure, in milliseconds; null if the next attempt would fail too. */
export function retryDelayMs(error: unknown, attempt: number): number | null {
  if (isBusy(error)) return toldDelayMs(error) ?? Math.min(5000 * 2 ** attempt, MOST_MS);
  return error instanceof LostConnection ? Math.min(1000 * 2 ** attempt, MOST_MS) : null;
}

// "Suggested Backoff Time: 92415 milliseconds", "try again in 60 seconds".
function toldDelayMs(error: Error): number | null {
  const errorTexts = Object.values(error).filter((errorField) => typeof errorField === "string");
  const [, delayCount, delayUnit] =
    /\b(\d{1,9}) ?(ms|milliseconds|s|seconds?)\b/i.exec(errorTexts.join(" ")) ?? [];
  return delayCount === undefined
    ? null
    : Number(delayCount) * (/^m/i.test(delayUnit ?? "") ? 1 : 1000);
}

type Use<TResult> = (client: ImapFlow, onUseful: () => void) => Promise<TResult>;

/**
 * Uses a connection, and a new one as long as the server is busy. After `onUseful` it opens a cut
 * connection again, and the next failure counts as the first. @throws CliError
 */
export async function keepConnected<TResult>(
  address: MailboxAddress,
  useClient: Use<TResult>,
  context: CliContext,
): Promise<TResult> {
  const { signal, stderr } = context;
  let [attempt, isUseful] = [0, false];
  const onUseful = () => void ([attempt, isUseful] = [0, true]);
  for (; ; attempt += 1) {
    try {
      return await connectOnce(address, (client) => useClient(client, onUseful), context);
    } catch (thrownValue) {
      if (signal.aborted)
        throw interrupted(
          "Interrupted; imported mails are kept. Run the same command again.",
          signal,
        );
      const error = toMailboxError(thrownValue, address);
      const isConnectionLost = error instanceof LostConnection;
      const delayMs = retryDelayMs(error, attempt);
      if (delayMs === null || (isConnectionLost && !isUseful)) throw error;
      const problem = isConnectionLost ? "cut the connection" : "is busy";
      const serverWords = quoteServer(findRefusal(error)?.serverWords);
      const nextAttempt = printable`${address.host} ${problem}; goes on in ${printDuration(delayMs)}.`;
      stderr.write(`${nextAttempt}${serverWords}\n`);
      await pause(delayMs, context);
    }
  }
}

async function connectOnce<TResult>(
  address: MailboxAddress,
  useClient: (client: ImapFlow) => Promise<TResult>,
  context: CliContext,
): Promise<TResult> {
  const { signal } = context;
  signal.throwIfAborted();
  const client = await connect(address, context);
  const closeClient = () => client.close();
  signal.addEventListener("abort", closeClient);
  try {
    return await useClient(client);
  } finally {
    signal.removeEventListener("abort", closeClient);
    await client.logout().catch(closeClient);
  }
}
