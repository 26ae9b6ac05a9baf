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
  const startRun = async (moreOptions: Partial<RunCommand> = {}, program = context) => {
    const askQuestions = await loadRun(
      { ...options, file: output, newSince, ...moreOptions },
      program,
    );
    return await askQuestions();
  };
  if (options.dryRun) {
    await importMailbox(command, context);
    return await startRun();
  }
  // A mail that was moved back is not new.
  const onlyRule = [options.only, "new"].filter(Boolean).join(", ");
  const quietContext = { ...context, stderr: { write: () => true }, openCatalog: async () => null };
  return await withMailbox(command, context, async ({ address, updateMails }) => {
    let isFirst = true;
    const knownIds = new Set<string>();
    const { state, limit, journal = context.env[context.source.journalVariable] } = options;
    // With --context a new mail may change the state of others, and a named journal may be a database.
    const canAskAlone = !state["context"] && limit === Infinity && journal === undefined;
    /** Asks about new mails and prints their rows, which do not wait for the results of all. */
    const askNewMails = async (newMails: readonly Mail[]) => {
      const newIds = new Set(newMails.map(({ id }) => id));
      const isPartRun = canAskAlone && newMails.length > 0;
      if (isPartRun)
        await startRun({ part: newMails, added: newIds, only: onlyRule }, quietContext);
      const restOptions = isPartRun
        ? { asked: newIds, added: new Set<string>() }
        : { added: newIds };
      if ((await startRun({ ...restOptions, only: onlyRule }, quietContext)) === exitCodes.done)
        return;
      context.stderr.write("Some mails have no answer; see the results.\n");
    };
    const followChanges = async (client: ImapFlow, onUseful: () => void): Promise<never> => {
      const changes = listChanges(client);
      for (;;) {
        const { addedMails, isChanged } = await changes.during(() => updateMails(client));
        onUseful();
        const newMails: Mail[] = [];
        for (const addedMail of addedMails) {
          if (!isFirst && !knownIds.has(addedMail.id)) newMails.push(addedMail);
          knownIds.add(addedMail.id);
        }
        const nextChange = changes.next();
        if (isFirst) await startRun();
        else if (isChanged) await askNewMails(newMails);
        isFirst = false;
        await nextChange;
      }
    };
    return await keepConnected(address, followChanges, context);
  });
}

function listChanges(client: ImapFlow) {
  let changeNotice = Promise.withResolvers<void>();
  const onChange = () => changeNotice.resolve();
  client.on("exists", onChange).on("close", onChange);
  client.on("expunge", ({ earlier }) => {
    if (earlier !== true) onChange();
  });
  client.on("mailFlags", ({ flags }) => {
    if (flags.has("\\Deleted")) onChange();
  });
  return {
    /** Reads the folder; changes from its start on count as the next. */
    async during<TResult>(readMails: () => Promise<TResult>): Promise<TResult> {
      changeNotice = Promise.withResolvers<void>();
      return await readMails();
    },
    /** Waits in IDLE for a change or the end of the connection. */
    async next(): Promise<void> {
      const { promise, resolve } = changeNotice;
      const onIdleEnd = () => resolve();
      client.idle().then(onIdleEnd, onIdleEnd);
      await promise;
    },
  };
}
