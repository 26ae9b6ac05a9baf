import { resolve } from "node:path";
import { exitCodes } from "evaluator-kit";
import { loadRun, type ProgramContext, type RunCommand } from "evaluator-runs/commands";
import { toOutputPath } from "evaluator-runs/source";
import type { ImapFlow } from "imapflow";
import { mailSource } from "../mail-source.ts";
import { hasRecords, importMailbox, type MailboxCommand, openMailbox } from "./import-mailbox.ts";
import { keepConnected } from "./keep-connected.ts";

/** The arguments of `watch`, and all options of a run. */
type WatchCommand = MailboxCommand & Omit<RunCommand, "file">;

/** Imports a folder and runs over it, then over the mails of each change, until it is interrupted. */
export async function watchMailbox(
  { url, output, ...options }: WatchCommand,
  context: ProgramContext,
): Promise<number> {
  const command = { url, output, since: options.since };
  const list = currentList({ ...options, file: output }, context);
  if (options.dryRun) {
    await importMailbox(command, context);
    return await list.begin();
  }
  using mailbox = await openMailbox(command, context);
  let isFirst = true;
  const use = async (client: ImapFlow, onUseful: () => void): Promise<never> => {
    const changes = changesOf(client);
    for (;;) {
      const update = await changes.during(() => mailbox.update(client));
      onUseful();
      const change = changes.next();
      if (isFirst) await list.begin();
      else await list.follow(update, change);
      isFirst = false;
      await change;
    }
  };
  return await keepConnected(mailbox.address, use, context);
}

type Update = Awaited<ReturnType<Awaited<ReturnType<typeof openMailbox>>["update"]>>;

/** Keeps the results of a file current: after the first run, runs print rows alone. */
function currentList(options: RunCommand, context: ProgramContext) {
  const { cwd, clock, signal, stderr } = context;
  const newSince = new Date(clock.epochNow()).toISOString();
  const run = async (more: Partial<RunCommand> = {}, program = context) =>
    await (
      await loadRun({ ...options, newSince, ...more }, program)
    )();
  const quiet = { ...context, stderr: { write: () => true }, openCatalog: async () => null };
  const { state, limit, format } = options;
  // With --context a new mail may change the state of others.
  const canAdd = !state["context"] && limit === Number.POSITIVE_INFINITY && format === "json";
  // A mail that was moved back is not new.
  const only = [options.only, "new"].filter(Boolean).join(", ");
  const results = toOutputPath(resolve(cwd, options.file), mailSource);
  let isStale = false;
  /** Runs over all mails, until a change comes. */
  const refresh = async (change: Promise<void>) => {
    const changed = new AbortController();
    void change.then(() => changed.abort());
    const either = AbortSignal.any([signal, changed.signal]);
    try {
      await run({ added: new Map() }, { ...quiet, signal: either });
      isStale = false;
    } catch (error) {
      if (signal.aborted || !changed.signal.aborted) throw error;
    }
  };
  return {
    begin: () => run(),
    /** Asks about the new mails of a change, and prints their rows; then brings the others up to date. */
    async follow({ added, isStale: hasOthers }: Update, change: Promise<void>): Promise<void> {
      isStale ||= hasOthers;
      const isPart = canAdd && hasRecords(results);
      const exitCode = added.size > 0 ? await run({ added, isPart, only }, quiet) : exitCodes.done;
      if (added.size > 0 && !isPart) isStale = false;
      if (isStale) await refresh(change);
      if (exitCode === exitCodes.done) return;
      stderr.write("A new mail has no answer; it is asked about again after the next change.\n");
      isStale = true;
    },
  };
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
