import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { resolve } from "node:path";
import { type CliContext, CliError, exitCodes, printable, withRest } from "evaluator-kit";
import {
  checkOutput,
  lockBeside,
  printCount,
  printCounted,
  toJsonArray,
  toOutputPath,
  writePrivateFile,
} from "evaluator-runs/source";
import type { ImapFlow } from "imapflow";
import type { Mail } from "../input/mail-schema.ts";
import { mailSource } from "../mail-source.ts";
import { type FolderState, FolderTable } from "./folder-table.ts";
import { keepConnected } from "./keep-connected.ts";
import { isSameAccount, type MailboxAddress, parseMailboxUrl } from "./mailbox-url.ts";
import type { SkippedMail } from "./read-message.ts";
import { syncFolder } from "./sync-folder.ts";

/** The arguments and options that `import` and `watch` share. */
export interface MailboxCommand {
  readonly url: string;
  readonly output: string;
  readonly since?: string | null | undefined;
}

/** Makes or updates an input file from a folder of an IMAP server, which it only reads. */
export async function importMailbox(command: MailboxCommand, context: CliContext): Promise<number> {
  return await withMailbox(command, context, async ({ address, update }) => {
    const { isWhole } = await keepConnected(address, update, context);
    return isWhole ? exitCodes.done : exitCodes.unanswered;
  });
}

interface MailboxChanges {
  readonly added: Iterable<Mail>;
  readonly isChanged: boolean;
  /** Whether the server handed out each mail. */
  readonly isWhole: boolean;
}

interface Mailbox {
  readonly address: MailboxAddress;
  /** Reads the changes, and writes the file if it lacks one; returns the mails that may be new. */
  readonly update: (client: ImapFlow) => Promise<MailboxChanges>;
}

/** Uses the file of a folder's mails and the table beside it, for one command alone. */
export async function withMailbox<TResult>(
  { url, output, since = null }: MailboxCommand,
  { cwd, stderr }: CliContext,
  use: (mailbox: Mailbox) => Promise<TResult>,
): Promise<TResult> {
  const address = parseMailboxUrl(url);
  toOutputPath(output, mailSource); // a file of this name could not be triaged later
  const path = resolve(cwd, output);
  const tablePath = path.replace(/\.json$/, ".mailbox.sqlite");
  await checkOutput(path, tablePath);
  const taken = printable`Another import or watch writes ${path}; wait for its end.`;
  const unlock = lockBeside(tablePath, { taken, advice: "Check the rights of the folder." });
  using _ = { [Symbol.dispose]: unlock };
  using table = new FolderTable(tablePath);
  checkAccount(table.state, address, path);
  const named = new Set<number>();
  const onRange = (read: number, of: number) => {
    if (of > read) stderr.write(`Read ${printCount(read)} of ${printCounted(of, "mail")}.\n`);
  };
  const advice = "Make room there; the mails that were read are kept.";
  const update = async (client: ImapFlow) => {
    const sync = await syncFolder(client, table, { address, since, path, onRange });
    const { state, read, left, fresh, gone, skipped, marked, isChanged } = sync;
    await table.end(state, gone, async () => {
      if (!isChanged && existsSync(path)) await chmod(path, 0o600);
      else await writePrivateFile(path, toJsonArray(table.mails()), advice);
    });
    const counts = `read ${printCounted(read, "mail")}; ${printCount(left)} left the folder`;
    const { count, empty } = table;
    const has = printable`${path} has ${printCounted(count, "mail")}: ${counts}`;
    stderr.write(`${has}${describeLeftOut({ marked, empty })}.\n`);
    // While a folder is watched, a mail is named once.
    const news = skipped.filter(({ uid }) => !named.has(uid));
    for (const { uid } of news) named.add(uid);
    stderr.write(describeSkipped(news, state.folder));
    return { added: table.mails(fresh), isChanged, isWhole: skipped.length === 0 };
  };
  return await use({ address, update });
}

function describeLeftOut({ marked, empty }: Record<"marked" | "empty", number>): string {
  const deleted = marked === 0 ? "" : `; left out ${printCount(marked)} marked as deleted`;
  const nothing = empty === 0 ? "" : `; left out ${printCount(empty)} with nothing to ask about`;
  return deleted + nothing;
}

const UIDS_SHOWN = 20;

function describeSkipped(skipped: readonly SkippedMail[], folder: string): string {
  const lines = Array.from(
    Map.groupBy(skipped, ({ why }) => why),
    ([why, mails]) => {
      const uids = withRest(
        mails.map(({ uid }) => String(uid)),
        UIDS_SHOWN,
      ).join(", ");
      const words = /[".]$/.test(why) ? why : `${why}.`;
      return printable`Broken: ${printCounted(mails.length, "mail")} of ${folder}, UID ${uids}: ${words} Import again to ask for it.\n`;
    },
  );
  return lines.join("");
}

function checkAccount(
  known: FolderState | null,
  { account, folder }: MailboxAddress,
  path: string,
) {
  if (known === null || isSameAccount(known.account, account)) return;
  throw new CliError(
    printable`${path} has the mails of ${known.folder} of ${known.account}; name another file for ${folder}.`,
  );
}
