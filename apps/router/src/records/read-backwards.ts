import { type FileHandle, open } from "node:fs/promises";
import { systemErrorCode } from "evaluator-kit";

/** A line of a file, and the byte at which it begins. */
interface PlacedLine {
  readonly text: string;
  readonly start: number;
}

interface ReadOptions {
  /** Reads the lines that begin before this byte. @default the file's end */
  readonly before?: number | undefined;
  readonly blockBytes?: number;
}

const NEWLINE = 10;

/** Reads the lines of a file from its end backwards, a block at a time; a missing file has none. */
export async function* readBackwards(
  path: string,
  { before = Infinity, blockBytes = 256 * 1024 }: ReadOptions = {},
): AsyncGenerator<PlacedLine[]> {
  await using file = await open(path).catch(nullIfMissing);
  if (file === null) return;
  let end = Math.min(before, (await file.stat()).size);
  for (let size = blockBytes; end > 0;) {
    const start = Math.max(0, end - size);
    const block = await readBlock(file, start, end);
    const cut = start === 0 ? 0 : block.indexOf(NEWLINE) + 1; // the line before it is cut off
    const hasLine = start === 0 || (cut > 0 && cut < block.length);
    size = hasLine ? blockBytes : size * 2; // so that a long line takes linear time
    if (!hasLine) continue;
    yield linesOf(block, cut, start);
    end = start + cut;
  }
}

/** Between a rotation and SIGHUP there is no file of this name. */
function nullIfMissing(error: unknown): null {
  if (systemErrorCode(error) === "ENOENT") return null;
  throw error;
}

async function readBlock(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
  return buffer.subarray(0, bytesRead);
}

/** Returns the lines from a byte of a block on, the last one first. */
function linesOf(block: Buffer, from: number, blockStart: number): PlacedLine[] {
  const lines: PlacedLine[] = [];
  for (let end = block.length; end > from;) {
    const before = end - 2 < from ? -1 : block.lastIndexOf(NEWLINE, end - 2);
    const start = Math.max(from, before + 1);
    lines.push({ text: block.toString("utf8", start, end), start: blockStart + start });
    end = start;
  }
  return lines;
}
