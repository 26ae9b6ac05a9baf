import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { toDatabaseError } from "./database-error.ts";

const written: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
};
const NULL = String.raw`\N`;

/** Returns cells as a line of COPY's text format. */
export function toCopyLine(cells: readonly (string | null)[]): string {
  return `${cells.map(toCopyText).join("\t")}\n`;
}

function toCopyText(cell: string | null): string {
  if (cell === null) return NULL;
  return cell.replace(/[\\\t\n\r]/g, (character) => written[character] ?? character);
}

/** Returns the functions for COPY in and out of a client. */
export function toCopies(client: PoolClient) {
  return {
    async copyIn(text: string, lines: AsyncIterable<string>): Promise<void> {
      const input = { failed: null as unknown };
      try {
        await pipeline(noting(lines, input), client.query(copyFrom(text)));
      } catch (error) {
        // An error of the lines is the caller's.
        throw input.failed ?? toDatabaseError(error);
      }
    },
    async *copyOut(text: string): AsyncGenerator<Uint8Array> {
      try {
        for await (const piece of client.query(copyTo(text))) yield piece as Uint8Array;
      } catch (error) {
        throw toDatabaseError(error);
      }
    },
  };
}

async function* noting(lines: AsyncIterable<string>, input: { failed: unknown }) {
  try {
    yield* lines;
  } catch (error) {
    input.failed = error;
    throw error;
  }
}

// "PGCOPY" and what a transfer as text would change, flags and the length of what else comes first.
const HEAD_LENGTH = 19;
const NO_MORE_ROWS = -1;
const NO_CELL = -1;

/** Reads the rows of a COPY's binary format, all of whose columns are texts. */
export class CopyReader {
  #rest: Buffer = Buffer.alloc(0);
  #isBegun = false;

  /** Returns the rows that a piece ends, in order. */
  read(piece: Uint8Array): (string | null)[][] {
    const bytes = Buffer.concat([this.#rest, piece]);
    let at = this.#isBegun ? 0 : HEAD_LENGTH;
    const rows: (string | null)[][] = [];
    for (let end = endOfRow(bytes, at); end !== null; end = endOfRow(bytes, at)) {
      rows.push(cellsOf(bytes, at));
      at = end;
    }
    this.#isBegun ||= bytes.length >= HEAD_LENGTH;
    this.#rest = this.#isBegun ? bytes.subarray(at) : bytes;
    return rows;
  }
}

/** Returns the end of the row at an offset; null if it is incomplete or after the last one. */
function endOfRow(bytes: Buffer, start: number): number | null {
  if (bytes.length < start + 2) return null;
  const cells = bytes.readInt16BE(start);
  if (cells === NO_MORE_ROWS) return null;
  let at = start + 2;
  for (let cell = 0; cell < cells; cell += 1) {
    if (bytes.length < at + 4) return null;
    at += 4 + Math.max(0, bytes.readInt32BE(at));
  }
  return at <= bytes.length ? at : null;
}

function cellsOf(bytes: Buffer, start: number): (string | null)[] {
  const cells: (string | null)[] = [];
  let at = start + 2;
  for (let left = bytes.readInt16BE(start); left > 0; left -= 1) {
    const length = bytes.readInt32BE(at);
    at += 4;
    cells.push(length === NO_CELL ? null : bytes.toString("utf8", at, at + length));
    at += Math.max(0, length);
  }
  return cells;
}
