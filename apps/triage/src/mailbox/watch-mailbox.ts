import { exitCodes } from "evaluator-kit";
import { loadRun, type ProgramContext, type RunCommand } from "evaluator-runs/commands";
import type { ImapFlow } from "imapflow";
import type { Mail } from "../input/mail-schema.ts";
import { importMailbox, type MailboxCommand, withMailbox } from "./import-mailbox.ts";
import { keepConnected } from "./keep-connected.ts";

/** The arguments of `watch`, and all options of a run. */
type WatchCommand = MailboxCommand & Omit<RunCommand, "file">;

/** Imports a folder and runs over it, and again after each change, until it is interrupted. */
export async function watchMailbox(
  { url, output, ...options }: WatchCommand,
  context: ProgramContext,
): Promise<number> {
  const command = { url, output, since: options.since };
  const newSince = new Date(context.clock.epochNow()).toISOString();
  const run = async (more: Partial<RunCommand> = {}, program = context) => {
    const start = await loadRun({ ...options, file: output, newSince, ...more }, program);
    return await start();
  };
  if (options.dryRun) {
    await importMailbox(command, context);
    return await run();
  }
  // A mail that was moved back is not new.
  const only = [options.only, "new"].filter(Boolean).join(", ");
  const quiet = { ...context, stderr: { write: () => true }, openCatalog: async () => null };
  return await withMailbox(command, context, async ({ address, update }) => {
    let isFirst = true;
    const knownIds = new Set<string>();
    const { state, limit, journal = context.env[context.source.journalVariable] } = options;
    // With --context a new mail may change the state of others, and a named journal may be a database.
    const canAskAlone = !state["context"] && limit === Infinity && journal === undefined;
    /** Asks about new mails and prints their rows, which do not wait for the results of all. */
    const follow = async (mails: readonly Mail[]) => {
      const ids = new Set(mails.map(({ id }) => id));
      const isPart = canAskAlone && mails.length > 0;
      if (isPart) await run({ part: mails, added: ids, only }, quiet);
      const rest = isPart ? { asked: ids, added: new Set<string>() } : { added: ids };
      if ((await run({ ...rest, only }, quiet)) === exitCodes.done) return;
      context.stderr.write("Some mails have no answer; the results say why.\n");
    };
    const use = async (client: ImapFlow, onUseful: () => void): Promise<never> => {
      const changes = listChanges(client);
      for (;;) {
        const { added: addedMails, isChanged } = await changes.during(() => update(client));
        onUseful();
        const mails: Mail[] = [];
        for (const mail of addedMails) {
          if (!isFirst && !knownIds.has(mail.id)) mails.push(mail);
          knownIds.add(mail.id);
        }
        const change = changes.next();
        if (isFirst) await run();
        else if (isChanged) await follow(mails);
        isFirst = false;
        await change;
      }
    };
    return await keepConnected(address, use, context);
  });
}

function listChanges(client: ImapFlow) {
  let notice = Promise.withResolvers<void>();
  const onChange = () => notice.resolve();
  client.on("exists", onChange).on("close", onChange);
  client.on("expunge", ({ earlier }) => {
    if (earlier !== true) onChange();
  });
  client.on("flags", ({ flags }) => {
    if (flags.has("\\Deleted")) onChange();
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
