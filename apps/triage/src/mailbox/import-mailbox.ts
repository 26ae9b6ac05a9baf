import { existsSync } from "node:fs";
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
import type { Mail } from "../input/mail-schema.ts";
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
  return await withMailbox(command, context, async ({ address, update }) => {
    await keepConnected(address, update, context);
    return exitCodes.done;
  });
}

interface Mailbox {
  readonly address: MailboxAddress;
  /** Reads the changes, and writes the file if it lacks one; returns the mails that may be new. */
  readonly update: (client: ImapFlow) => Promise<{ added: Iterable<Mail>; isChanged: boolean }>;
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
  checkFolder(table.state, address, path);
  const onRange = (read: number, of: number) => {
    if (of > read) stderr.write(`Read ${printCount(read)} of ${printCounted(of, "mail")}.\n`);
  };
  const advice = "Make room there; the mails that were read are kept.";
  const update = async (client: ImapFlow) => {
    const sync = await syncFolder(client, table, { address, since, onRange });
    const { state, count, read, first, gone, isChanged } = sync;
    await table.end(state, gone, async () => {
      if (!isChanged && existsSync(path)) await chmod(path, 0o600);
      else await writePrivateFile(path, toJsonArray(table.mails()), advice);
    });
    const counts = `read ${printCounted(read, "mail")}; ${printCount(gone.length)} left the folder`;
    stderr.write(printable`${path} has ${printCounted(count, "mail")}: ${counts}.\n`);
    return { added: first === null ? [] : table.mails(first), isChanged };
  };
  return await use({ address, update });
}

function checkFolder(known: FolderState | null, { account, folder }: MailboxAddress, path: string) {
  if (known === null || (known.account === account && known.folder === folder)) return;
  throw new CliError(
    printable`${path} has the mails of ${known.folder} of ${known.account}; name another file for ${folder}.`,
  );
}
