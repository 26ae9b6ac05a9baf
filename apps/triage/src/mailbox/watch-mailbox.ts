import { loadRun, type ProgramContext, type RunCommand } from "evaluator-runs/commands";
import type { ImapFlow } from "imapflow";
import { importMailbox, type MailboxCommand, openMailbox } from "./import-mailbox.ts";
import { keepConnected } from "./keep-connected.ts";

/** The arguments of `watch`, and all options of a run. */
type WatchCommand = MailboxCommand & Omit<RunCommand, "file">;

/** Imports a folder and runs over it, then again after each change, until it is interrupted. */
export async function watchMailbox(
  { url, output, ...options }: WatchCommand,
  context: ProgramContext,
): Promise<number> {
  const run = async (more: Partial<RunCommand> = {}) => {
    return await (
      await loadRun({ ...options, file: output, ...more }, context)
    )();
  };
  const command = { url, output, since: options.since };
  if (options.dryRun) {
    await importMailbox(command, context);
    return await run();
  }
  // Each new mail has a row under the table of the first run.
  const only = [options.only, "new"].filter(Boolean).join(", ");
  using mailbox = await openMailbox(command, context);
  let isFirst = true;
  const use = async (client: ImapFlow, onUseful: () => void): Promise<never> => {
    const changes = changesOf(client);
    for (;;) {
      const { read, gone } = await changes.during(() => mailbox.update(client));
      onUseful();
      const change = changes.next();
      if (isFirst) await run();
      else if (read > 0) await run({ only, hasHeadings: false });
      else if (gone > 0) await run({ top: 0, hasHeadings: false });
      isFirst = false;
      await change;
    }
  };
  return await keepConnected(mailbox.address, use, context);
}

function changesOf(client: ImapFlow) {
  let notice = Promise.withResolvers<void>();
  const onChange = () => notice.resolve();
  client.on("exists", onChange).on("close", onChange);
  client.on("expunge", ({ earlier }) => {
    if (earlier !== true) onChange();
  });
  return {
    /** Reads the folder; changes from its start on count as the next. */
    async during<TResult>(read: () => Promise<TResult>): Promise<TResult> {
      notice = Promise.withResolvers<void>();
      return await read();
    },
    /** Waits in IDLE for a change or the end of the connection. */
    async next(): Promise<void> {
      const { promise, resolve } = notice;
      const onEnd = () => resolve();
      client.idle().then(onEnd, onEnd);
      await promise;
    },
  };
}
