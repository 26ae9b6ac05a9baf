import { constants } from "node:fs";
import { type FileHandle, open as openFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { systemErrorCode, toFileError } from "evaluator-kit";
import type { EvaluationRecord } from "../evaluations/evaluation-record.ts";
import type { Note } from "../report/read-records.ts";
import type { MessageRecord } from "./message-record.ts";

type LoggedRecord = MessageRecord | EvaluationRecord | (Note & Pick<MessageRecord, "instance">);

type OpenFile = Pick<FileHandle, "write" | "read" | "stat" | "close">;

/** Opens a file to read its end and to append. */
type Open = (path: string, flags: number, mode: number) => Promise<OpenFile>;

/** A write that ended before its last line. */
type CutShort = Error & { readonly linesWritten: number };

const NEWLINE = 10;
const { O_APPEND, O_CREAT, O_RDWR } = constants;

/**
 * Opens a file for its owner only, and creates it if necessary. A line that was cut short, now or
 * before, is ended first: otherwise the next line is lost with it.
 */
export async function openLineFile(path: string, open: Open = openFile) {
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT, 0o600);
  let isTorn = await endsTorn(file);
  return {
    /** Appends lines with their line breaks. @throws CutShort */
    async add(lines: readonly string[]) {
      const start = isTorn ? 1 : 0;
      const bytes = Buffer.from("\n".repeat(start) + lines.join(""));
      let at = 0;
      try {
        while (at < bytes.length) at += (await file.write(bytes, at)).bytesWritten;
        isTorn = false;
      } catch (cause) {
        if (at > 0) isTorn = bytes[at - 1] !== NEWLINE;
        const linesWritten = bytes.subarray(start, at).filter((byte) => byte === NEWLINE).length;
        throw Object.assign(new Error("The write was cut short.", { cause }), { linesWritten });
      }
    },
    close: () => file.close(),
  };
}

/** A named pipe or a device has no end to read. */
async function endsTorn(file: OpenFile): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== NEWLINE;
}

/** The most lines that wait for a slow disk: about five megabytes. */
const MAX_WAITING = 10_000;

/** Opens the decision log; a full disk drops records. @throws CliError if it cannot be written. */
export async function openDecisionLog(path: string, warn: (line: string) => void, open?: Open) {
  let file = await openLineFile(path, open).catch((error: unknown) => {
    throw toFileError(error, `write ${path}`, "ROUTER_DECISION_LOG names it.");
  });
  let waiting: LoggedRecord[] = [];
  let work: Promise<void> = Promise.resolve();
  const inTurn = (task: () => Promise<void>) => (work = work.then(task));
  const losses = countLosses(warn);
  const writeWaiting = async () => {
    await setImmediate(); // the answers of this round of the event loop go first
    const lines = waiting.map((record) => `${JSON.stringify(record)}\n`);
    waiting = [];
    try {
      await file.add(lines);
      if (lines.length > 0) losses.end();
    } catch (error) {
      const { linesWritten, cause } = error as CutShort;
      losses.add(lines.length - linesWritten, toCode(cause));
    }
  };
  return {
    path,
    add: (record: LoggedRecord): void => {
      if (waiting.length >= MAX_WAITING) return losses.add(1, "the disk is too slow");
      waiting.push(record);
      if (waiting.length === 1) void inTurn(writeWaiting);
    },
    /** Resolves after the records so far are written or dropped. */
    written: () => work,
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
          const reason = toCode(error);
          warn(`The decision log stays in its old file: the new one fails (${reason}).\n`);
        }
      }),
    /** Resolves after every record is written or dropped. */
    async close() {
      await inTurn(writeWaiting);
      await file.close();
    },
  };
}

/** Counts dropped records, and warns once per series of failures. */
function countLosses(warn: (line: string) => void) {
  let droppedCount = 0;
  let before: number | null = null; // null while writing works
  return {
    count: () => droppedCount,
    add(lines: number, reason: string): void {
      if (before === null) {
        warn(`The decision log cannot be written (${reason}); records are dropped until it can.\n`);
      }
      before ??= droppedCount;
      droppedCount += lines;
    },
    end(): void {
      if (before === null) return;
      warn(`The decision log is written again; records dropped: ${droppedCount - before}.\n`);
      before = null;
    },
  };
}

function toCode(error: unknown): string {
  return systemErrorCode(error) ?? "unknown error";
}
