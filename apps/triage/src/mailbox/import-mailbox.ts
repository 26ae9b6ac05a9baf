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
  return await withMailbox(command, context, async ({ address, updateMails }) => {
    const { isWhole } = await keepConnected(address, updateMails, context);
    return isWhole ? exitCodes.done : exitCodes.unanswered;
  });
}

interface MailboxChanges {
  readonly addedMails: Iterable<Mail>;
  readonly isChanged: boolean;
  /** Whether the server handed out each mail. */
  readonly isWhole: boolean;
}

interface Mailbox {
  readonly address: MailboxAddress;
  /** Reads the changes, and writes the file if it lacks one; returns the mails that may be new. */
  readonly updateMails: (client: ImapFlow) => Promise<MailboxChanges>;
}

/** Uses the file of a folder's mails and the table beside it, for one command alone. */
export async function withMailbox<TResult>(
  { url, output, since = null }: MailboxCommand,
  { cwd, stderr }: CliContext,
  useMailbox: (mailbox: Mailbox) => Promise<TResult>,
): Promise<TResult> {
  const address = parseMailboxUrl(url);
  toOutputPath(output, mailSource); // a file of this name could not be triaged later
  const outputPath = resolve(cwd, output);
  const tablePath = outputPath.replace(/\.json$/, ".mailbox.sqlite");
  await checkOutput(outputPath, [tablePath], { isOwn: isMailFile });
  const unlockTable = lockBeside(tablePath, "import or watch");
  using _ = { [Symbol.dispose]: unlockTable };
  using folderTable = new FolderTable(tablePath);
  checkAccount(folderTable.state, address, outputPath);
  const namedUids = new Set<number>();
  const onRange = (readCount: number, totalCount: number) => {
    if (totalCount > readCount)
      stderr.write(`Read ${printCount(readCount)} of ${printCounted(totalCount, "mail")}.\n`);
  };
  const failureNote = "Read mails are kept.";
  const updateMails = async (client: ImapFlow) => {
    const syncResult = await syncFolder(client, folderTable, {
      address,
      since,
      outputPath,
      onRange,
    });
    const {
      state,
      read,
      expunged: expungedCount,
      fresh,
      gone: goneUids,
      skipped: skippedMails,
      marked: markedCount,
      isChanged,
    } = syncResult;
    const removedCount = await folderTable.endSync(state, goneUids, async () => {
      if (!isChanged && existsSync(outputPath)) await chmod(outputPath, 0o600);
      else await writeWholeFile(outputPath, toJsonArray(folderTable.listMails()), { failureNote });
    });
    const countsText = `read ${printCounted(read, "mail")}; ${printCount(removedCount + expungedCount)} left the folder`;
    const { count, empty } = folderTable;
    const tableText = printable`${outputPath} has ${printCounted(count, "mail")}: ${countsText}`;
    stderr.write(`${tableText}${describeLeftOut({ marked: markedCount, empty })}.\n`);
    // While a folder is watched, a mail is named once.
    const newlySkipped = skippedMails.filter(({ uid }) => !namedUids.has(uid));
    for (const { uid } of newlySkipped) namedUids.add(uid);
    stderr.write(describeSkipped(newlySkipped, state.folder));
    return {
      addedMails: folderTable.listMails(fresh),
      isChanged,
      isWhole: skippedMails.length === 0,
    };
  };
  return await useMailbox({ address, updateMails });
}

function describeLeftOut({
  marked: markedCount,
  empty,
}: Record<"marked" | "empty", number>): string {
  const deletedText = markedCount === 0 ? "" : `; left out ${printCount(markedCount)} deleted`;
  const nothing = empty === 0 ? "" : `; left out ${printCount(empty)} without content`;
  return deletedText + nothing;
}

const UIDS_SHOWN = 20;

function describeSkipped(skippedMails: readonly SkippedMail[], folderName: string): string {
  const skippedLines = Array.from(
    Map.groupBy(skippedMails, ({ missingReason }) => missingReason),
    ([missingReason, groupMails]) => {
      const uidList = withRest(
        groupMails.map(({ uid }) => String(uid)),
        UIDS_SHOWN,
      ).join(", ");
      const reasonText = /[".]$/.test(missingReason) ? missingReason : `${missingReason}.`;
      return printable`Broken: ${printCounted(groupMails.length, "mail")} of ${folderName}, UID ${uidList}: ${reasonText} Import again to retry.\n`;
    },
  );
  return skippedLines.join("");
}

function checkAccount(
  knownState: FolderState | null,
  { account, folder }: MailboxAddress,
  outputPath: string,
) {
  if (knownState === null || isSameAccount(knownState.account, account)) return;
  rejectTable(outputPath, knownState, folder);
}
