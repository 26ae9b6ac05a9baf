import { CliError, systemErrorCode } from "evaluator-kit";
import { CutShortError, type Open, openLineFile } from "./line-file.ts";
import type { FeedbackRecord, MessageRecord } from "./message-record.ts";

interface DecisionLogOptions {
  /** Prints a line when writes begin to fail, and when they work again. */
  readonly warn: (line: string) => void;
  /** Opens the file. @default node:fs/promises */
  readonly open?: Open;
}

/** The most lines that wait for a slow disk: about five megabytes. */
const MAX_WAITING = 10_000;

/**
 * Opens the decision log. While the disk is full, records are dropped.
 *
 * @throws CliError if the file cannot be written.
 */
export async function openDecisionLog(path: string, { warn, open }: DecisionLogOptions) {
  let file = await openLineFile(path, open).catch((error: unknown) => {
    const problem = `ROUTER_DECISION_LOG=${JSON.stringify(path)} cannot be written`;
    throw new CliError(`${problem} (${codeOf(error)}).`, { cause: error });
  });
  const losses = countLosses(warn);
  let waiting: string[] = [];
  let work: Promise<void> = Promise.resolve();
  const inTurn = (task: () => Promise<void>) => (work = work.then(task));

  async function writeWaiting(): Promise<void> {
    const lines = waiting;
    waiting = [];
    try {
      await file.add(lines);
      if (lines.length > 0) losses.end();
    } catch (error) {
      const written = error instanceof CutShortError ? error.linesWritten : 0;
      losses.add(lines.length - written, codeOf(error));
    }
  }

  function add(record: MessageRecord | FeedbackRecord): void {
    if (waiting.length >= MAX_WAITING) return losses.add(1, "the disk is too slow");
    waiting.push(`${JSON.stringify(record)}\n`);
    if (waiting.length === 1) void inTurn(writeWaiting);
  }

  return {
    add,
    /** Returns how many records were dropped since the start. */
    dropped: losses.count,
    /** Opens a new file of the same path, after a rotation moved the old one. */
    reopen: () =>
      inTurn(async () => {
        try {
          const next = await openLineFile(path, open);
          await file.close().catch(() => undefined); // it is not used any more
          file = next;
        } catch (error) {
          warn(`The decision log stays in its old file: the new one fails (${codeOf(error)}).\n`);
        }
      }),
    /** Resolves after every line is written or dropped. */
    async close() {
      await inTurn(writeWaiting);
      await file.close();
    },
  };
}

/** Counts dropped records, and warns once per series of failures. */
function countLosses(warn: (line: string) => void) {
  let dropped = 0;
  let before: number | null = null; // null while writing works
  return {
    count: () => dropped,
    add(lines: number, reason: string): void {
      if (before === null) {
        before = dropped;
        warn(`The decision log cannot be written (${reason}); records are dropped until it can.\n`);
      }
      dropped += lines;
    },
    end(): void {
      if (before === null) return;
      warn(`The decision log is written again; ${dropped - before} records were dropped.\n`);
      before = null;
    },
  };
}

function codeOf(error: unknown): string {
  return systemErrorCode(error instanceof CutShortError ? error.cause : error) ?? "unknown error";
}
