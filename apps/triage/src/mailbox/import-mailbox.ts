import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { resolve } from "node:path";
import {
  checkOutput,
  type CliContext,
  exitCodes,
  printable,
  withRest,
  writeWholeFile,
} from "evaluator-kit";
import {
  lockBeside,
  printCount,
  printCounted,
  toJsonArray,
  toOutputPath,
} from "evaluator-runs/source";
import type { ImapFlow } from "imapflow";
import type { Mail } from "../input/mail-schema.ts";
import { isMailFile, mailSource } from "../mail-source.ts";
import { type FolderState, FolderTable, rejectTable } from "./folder-table.ts";
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
  await checkOutput(path, [tablePath], { isOwn: isMailFile });
  const lockedText = printable`Another import or watch writes ${path}; wait for its end.`;
  const unlock = lockBeside(tablePath, lockedText);
  using _ = { [Symbol.dispose]: unlock };
  using table = new FolderTable(tablePath);
  checkAccount(table.state, address, path);
  const namedUids = new Set<number>();
  const onRange = (read: number, of: number) => {
    if (of > read) stderr.write(`Read ${printCount(read)} of ${printCounted(of, "mail")}.\n`);
  };
  const note = "The mails that were read are kept.";
  const update = async (client: ImapFlow) => {
    const sync = await syncFolder(client, table, { address, since, path, onRange });
    const {
      state,
      read,
      expunged: expungedCount,
      fresh,
      gone: goneUids,
      skipped: skippedMails,
      marked: markedCount,
      isChanged,
    } = sync;
    const removedCount = await table.end(state, goneUids, async () => {
      if (!isChanged && existsSync(path)) await chmod(path, 0o600);
      else await writeWholeFile(path, toJsonArray(table.mails()), { failureNote: note });
    });
    const counts = `read ${printCounted(read, "mail")}; ${printCount(removedCount + expungedCount)} left the folder`;
    const { count, empty } = table;
    const has = printable`${path} has ${printCounted(count, "mail")}: ${counts}`;
    stderr.write(`${has}${describeLeftOut({ marked: markedCount, empty })}.\n`);
    // While a folder is watched, a mail is named once.
    const news = skippedMails.filter(({ uid }) => !namedUids.has(uid));
    for (const { uid } of news) namedUids.add(uid);
    stderr.write(describeSkipped(news, state.folder));
    return { added: table.mails(fresh), isChanged, isWhole: skippedMails.length === 0 };
  };
  return await use({ address, update });
}

function describeLeftOut({
  marked: markedCount,
  empty,
}: Record<"marked" | "empty", number>): string {
  const deletedText =
    markedCount === 0 ? "" : `; left out ${printCount(markedCount)} marked as deleted`;
  const nothing = empty === 0 ? "" : `; left out ${printCount(empty)} with nothing to ask about`;
  return deletedText + nothing;
}

const UIDS_SHOWN = 20;

function describeSkipped(skippedMails: readonly SkippedMail[], folder: string): string {
  const lines = Array.from(
    Map.groupBy(skippedMails, ({ why }) => why),
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
  knownState: FolderState | null,
  { account, folder }: MailboxAddress,
  path: string,
) {
  if (knownState === null || isSameAccount(knownState.account, account)) return;
  rejectTable(path, knownState, folder);
}
