import { CliError, systemErrorCode } from "evaluator-kit";
import { CutShortError, type Open, openLineFile } from "./line-file.ts";
import type { FeedbackRecord, MessageRecord } from "./message-record.ts";

/** What is called with the log's failures, and where its file is opened. */
export interface DecisionLogOptions {
  /** Prints a line that a person should look at: when writing begins to fail, and when it works again. */
  readonly warn: (line: string) => void;
  /** Opens the file. @default node:fs/promises */
  readonly open?: Open;
}

/** Lines that wait for a slow disk, at most: some five megabytes. */
const MAX_WAITING = 10_000;

/**
 * Opens the decision log. A disk that is full loses the records of that time, and no others.
 *
 * @throws CliError when the file cannot be written.
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
    observe: add,
    /** Adds what somebody said of a message's tier. */
    keepFeedback: add,
    /** Returns how many records could not be written since the start. */
    dropped: losses.count,
    /** Goes on in a new file of the same path, once a rotation has moved the old one away. */
    reopen: () =>
      inTurn(async () => {
        try {
          const next = await openLineFile(path, open);
          await file.close().catch(() => undefined); // nothing more is written there
          file = next;
        } catch (error) {
          warn(`The decision log stays in its old file: the new one fails (${codeOf(error)}).\n`);
        }
      }),
    /** Waits until every line is written or dropped. */
    async close() {
      await inTurn(writeWaiting);
      await file.close();
    },
  };
}

/** Counts dropped records, and warns once for each time of them. */
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
