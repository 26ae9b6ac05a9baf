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
type Open = (logPath: string, flags: number, fileMode: number) => Promise<OpenFile>;

/** A write that ended before its last line. */
type CutShort = Error & { readonly linesWritten: number };

const NEWLINE = 10;
const { O_APPEND, O_CREAT, O_RDWR } = constants;

/**
 * Opens a file for its owner only, and creates it if necessary. A line that was cut short, now or
 * before, is ended first: otherwise the next line is lost with it.
 */
export async function openLineFile(logPath: string, openLogFile: Open = openFile) {
  const lineFile = await openLogFile(logPath, O_RDWR | O_APPEND | O_CREAT, 0o600);
  let isTorn = await endsTorn(lineFile);
  return {
    /** Appends lines with their line breaks. @throws CutShort */
    async add(lines: readonly string[]) {
      const start = isTorn ? 1 : 0;
      const bytes = Buffer.from("\n".repeat(start) + lines.join(""));
      let at = 0;
      try {
        while (at < bytes.length) at += (await lineFile.write(bytes, at)).bytesWritten;
        isTorn = false;
      } catch (cause) {
        if (at > 0) isTorn = bytes[at - 1] !== NEWLINE;
        const linesWritten = bytes.subarray(start, at).filter((byte) => byte === NEWLINE).length;
        throw Object.assign(new Error("The write was cut short.", { cause }), { linesWritten });
      }
    },
    close: () => lineFile.close(),
  };
}

/** A named pipe or a device has no end to read. */
async function endsTorn(openedFile: OpenFile): Promise<boolean> {
  const { size } = await openedFile.stat();
  if (size === 0) return false;
  const { buffer } = await openedFile.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== NEWLINE;
}

/** The most lines that wait for a slow disk: about five megabytes. */
const MAX_WAITING = 10_000;

/** Opens the decision log; a full disk drops records. @throws CliError if it cannot be written. */
export async function openDecisionLog(path: string, warn: (line: string) => void, open?: Open) {
  let lineFile = await openLineFile(path, open).catch((error: unknown) => {
    throw toFileError(error, `write ${path}`, "ROUTER_DECISION_LOG names it.");
  });
  let waitingRecords: LoggedRecord[] = [];
  let pendingWork: Promise<void> = Promise.resolve();
  const inTurn = (writeTask: () => Promise<void>) => (pendingWork = pendingWork.then(writeTask));
  const losses = countLosses(warn);
  const writeWaiting = async () => {
    await setImmediate(); // the answers of this round of the event loop go first
    const recordLines = waitingRecords.map((waitingRecord) => `${JSON.stringify(waitingRecord)}\n`);
    waitingRecords = [];
    try {
      await lineFile.add(recordLines);
      if (recordLines.length > 0) losses.end();
    } catch (error) {
      const { linesWritten, cause } = error as CutShort;
      losses.add(recordLines.length - linesWritten, toCode(cause));
    }
  };
  return {
    path,
    add: (record: LoggedRecord): void => {
      if (waitingRecords.length >= MAX_WAITING) return losses.add(1, "the disk is too slow");
      waitingRecords.push(record);
      if (waitingRecords.length === 1) void inTurn(writeWaiting);
    },
    /** Resolves after the records so far are written or dropped. */
    written: () => pendingWork,
    /** Returns how many records were dropped since the start. */
    dropped: losses.count,
    /** Opens a new file of the same path, after a rotation moved the old one. */
    reopen: () =>
      inTurn(async () => {
        try {
          const newFile = await openLineFile(path, open);
          await lineFile.close().catch(() => undefined); // it is not used any more
          lineFile = newFile;
        } catch (error) {
          const reason = toCode(error);
          warn(`The decision log stays in its old file: the new one fails (${reason}).\n`);
        }
      }),
    /** Resolves after every record is written or dropped. */
    async close() {
      await inTurn(writeWaiting);
      await lineFile.close();
    },
  };
}

/** Counts dropped records, and warns once per series of failures. */
function countLosses(warn: (warningLine: string) => void) {
  let droppedCount = 0;
  let before: number | null = null; // null while writing works
  return {
    count: () => droppedCount,
    add(lostLines: number, reason: string): void {
      if (before === null) {
        warn(`The decision log cannot be written (${reason}); records are dropped until it can.\n`);
      }
      before ??= droppedCount;
      droppedCount += lostLines;
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
