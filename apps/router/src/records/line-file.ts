import { constants } from "node:fs";
import { type FileHandle, open as openFile } from "node:fs/promises";

/** What is needed of an open file. */
type OpenFile = Pick<FileHandle, "write" | "read" | "stat" | "close">;

/** Opens a file for reading its end and adding to it. */
export type Open = (path: string, flags: number, mode: number) => Promise<OpenFile>;

/** A write that ended before its last line. */
export class CutShortError extends Error {
  override readonly name = "CutShortError";
  readonly linesWritten: number;

  constructor(linesWritten: number, cause: unknown) {
    super("The write was cut short.", { cause });
    this.linesWritten = linesWritten;
  }
}

const NEWLINE = 10;
const { O_APPEND, O_CREAT, O_RDWR } = constants;

/**
 * Opens a file for its owner alone, and makes it where there is none. A line that was cut short, now
 * or before the file was opened, is ended first, so that it takes no other with it.
 */
export async function openLineFile(path: string, open: Open = openFile) {
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT, 0o600);
  let isTorn = await endsTorn(file);
  return {
    /**
     * Adds lines, each with its line break.
     *
     * @throws CutShortError that says how many of them are in the file.
     */
    async add(lines: readonly string[]) {
      const start = isTorn ? 1 : 0;
      const bytes = Buffer.from("\n".repeat(start) + lines.join(""));
      let at = 0;
      try {
        while (at < bytes.length) at += (await file.write(bytes, at)).bytesWritten;
        isTorn = false;
      } catch (error) {
        if (at > 0) isTorn = bytes[at - 1] !== NEWLINE;
        const ends = bytes.subarray(start, at).filter((byte) => byte === NEWLINE);
        throw new CutShortError(ends.length, error);
      }
    },
    close: () => file.close(),
  };
}

/** A named pipe or a device has no end to look at. */
async function endsTorn(file: OpenFile): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== NEWLINE;
}
