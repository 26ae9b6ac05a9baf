import { existsSync, statSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { resolve } from "node:path";
import { type CliContext, CliError, exitCodes, printable } from "evaluator-kit";
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
import { mailSource } from "../mail-source.ts";
import { type FolderState, FolderTable } from "./folder-table.ts";
import { keepConnected } from "./keep-connected.ts";
import { type MailboxAddress, parseMailboxUrl } from "./mailbox-url.ts";
import { syncFolder } from "./sync-folder.ts";

/** The arguments and options that `import` and `watch` share. */
export interface MailboxCommand {
  readonly url: string;
  readonly output: string;
  readonly since?: string | null | undefined;
}

/** Makes or updates an input file from a folder of an IMAP server, which it only reads. */
export async function importMailbox(command: MailboxCommand, context: CliContext): Promise<number> {
  using mailbox = await openMailbox(command, context);
  await keepConnected(mailbox.address, mailbox.update, context);
  return exitCodes.done;
}

/** Opens the file of a folder's mails and the table beside it, for one command alone. */
export async function openMailbox(
  { url, output, since = null }: MailboxCommand,
  { cwd, stderr }: CliContext,
) {
  const address = parseMailboxUrl(url);
  toOutputPath(output, mailSource); // a file of this name could not be triaged later
  const path = resolve(cwd, output);
  const tablePath = path.replace(/\.json$/, ".mailbox.sqlite");
  await checkOutput(path, tablePath);
  const taken = printable`Another import or watch writes ${path}; wait for its end.`;
  const unlock = lockBeside(tablePath, { taken, advice: "Check the rights of the folder." });
  const table = openTable(tablePath, { address, path, unlock });
  const onRange = (read: number, of: number) => {
    if (of > read) stderr.write(`Read ${printCount(read)} of ${printCounted(of, "mail")}.\n`);
  };
  const advice = "Make room there; the mails that were read are kept.";
  return {
    address,
    /** Reads the changes, and writes the file if it lacks one; returns the new mails, and whether others changed. */
    update: async (client: ImapFlow) => {
      const sync = await syncFolder(client, table, { address, since, onRange });
      const { state, count, read, firstNew, isLonger, gone, isChanged } = sync;
      const added = firstNew === null ? [] : [...table.mails(firstNew)];
      const before = isLonger && hasRecords(path) ? path : null;
      await table.end(state, gone, async () => {
        if (!isChanged && existsSync(path)) await chmod(path, 0o600);
        else {
          const mails = before === null ? table.mails() : added;
          await writePrivateFile(path, toJsonArray(mails, before), advice);
        }
      });
      const counts = `read ${printCounted(read, "mail")}; ${printCount(gone.length)} left the folder`;
      stderr.write(printable`${path} has ${printCounted(count, "mail")}: ${counts}.\n`);
      return { added: new Map(added.map((mail) => [mail.id, mail])), isStale: !isLonger };
    },
    [Symbol.dispose]: () => {
      table[Symbol.dispose]();
      unlock();
    },
  };
}

/** Returns whether a file of results or mails exists and has one. */
export function hasRecords(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > "[]\n".length;
}

/** Opens the table of a folder; unlocks it if it is broken or of another folder. */
function openTable(tablePath: string, { address, path, unlock }: TableToOpen): FolderTable {
  let table: FolderTable | null = null;
  try {
    table = new FolderTable(tablePath);
    checkFolder(table.state, address, path);
    return table;
  } catch (error) {
    table?.[Symbol.dispose]();
    unlock();
    throw error;
  }
}

interface TableToOpen {
  readonly address: MailboxAddress;
  /** Of the mails. */
  readonly path: string;
  readonly unlock: () => void;
}

function checkFolder(known: FolderState | null, { account, folder }: MailboxAddress, path: string) {
  if (known === null || (known.account === account && known.folder === folder)) return;
  throw new CliError(
    printable`${path} has the mails of ${known.folder} of ${known.account}; name another file for ${folder}.`,
  );
}
