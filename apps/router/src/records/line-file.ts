import { constants } from "node:fs";
import { type FileHandle, open as openFile } from "node:fs/promises";

type OpenFile = Pick<FileHandle, "write" | "read" | "stat" | "close">;

/** Opens a file to read its end and to append. */
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
 * Opens a file for its owner only, and creates it if necessary. A line that was cut short, now or
 * before, is ended first: otherwise the next line is lost with it.
 */
export async function openLineFile(path: string, open: Open = openFile) {
  const file = await open(path, O_RDWR | O_APPEND | O_CREAT, 0o600);
  let isTorn = await endsTorn(file);
  return {
    /** Appends lines with their line breaks. @throws CutShortError with the number of written lines. */
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

/** A named pipe or a device has no end to read. */
async function endsTorn(file: OpenFile): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== NEWLINE;
}
