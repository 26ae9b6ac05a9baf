import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toFileError } from "evaluator-cli-kit";
import { DigestTable, NumberList } from "./digest-table.ts";

/** The bytes of the digests it takes. */
export const DIGEST_BYTES = 16;
const ENTRY_BYTES = DIGEST_BYTES + 4;
const BUCKETS = 256;
// 200,000 records stay in memory, and no more is held of ten million.
const BLOCK_ENTRIES = 800;
const BLOCK_BYTES = BLOCK_ENTRIES * ENTRY_BYTES;

/** A digest that had come before. */
export interface Repeat {
  /** Which of the digests it is, from 0. */
  readonly index: number;
  /** Which of them came first. */
  readonly first: number;
  /** How many equal ones came before it. */
  readonly repeat: number;
}

/**
 * Finds digests that come more than once, in memory that does not grow with their number: beyond some
 * of them they go to a temporary file, sorted by their first byte, and are compared by that.
 */
export class RepeatFinder implements Disposable {
  readonly #buckets = Array.from({ length: BUCKETS }, () => ({
    block: Buffer.alloc(0),
    used: 0,
    written: [] as number[],
  }));
  #length = 0;
  #file: { readonly descriptor: number; readonly path: string; size: number } | null = null;

  /** Adds the next digest. */
  add(digest: Uint8Array): void {
    const bucket = this.#buckets[digest[0] ?? 0];
    if (bucket === undefined) return;
    // Grows with what it holds, so that few digests take little.
    if (bucket.used === bucket.block.length && bucket.used < BLOCK_BYTES) {
      const length = Math.min(BLOCK_BYTES, Math.max(8 * ENTRY_BYTES, 2 * bucket.used));
      bucket.block = Buffer.concat([bucket.block], length);
    }
    bucket.block.set(digest.subarray(0, DIGEST_BYTES), bucket.used);
    bucket.block.writeUInt32LE(this.#length, bucket.used + DIGEST_BYTES);
    bucket.used += ENTRY_BYTES;
    this.#length += 1;
    if (bucket.used < BLOCK_BYTES) return;
    bucket.written.push(this.#write(bucket.block));
    bucket.used = 0;
  }

  /** Returns all repeats; those of one digest are in order, others in any. */
  *repeats(): Generator<Repeat> {
    for (const { block, used, written } of this.#buckets) {
      const length = written.length * BLOCK_ENTRIES + used / ENTRY_BYTES;
      if (length === 0) continue;
      const table = new DigestTable(DIGEST_BYTES, length);
      const firsts = new NumberList(length);
      const counts = new NumberList(length);
      const blocks = [...written.map((at) => () => this.#read(at)), () => block.subarray(0, used)];
      for (const read of blocks) {
        const entries = read();
        for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
          const number = table.add(entries.subarray(at, at + DIGEST_BYTES));
          const index = entries.readUInt32LE(at + DIGEST_BYTES);
          if (number === firsts.length) firsts.push(index);
          const repeat = counts.increase(number);
          if (repeat > 0) yield { index, first: firsts.at(number), repeat };
        }
      }
    }
  }

  /** Removes the temporary file. */
  [Symbol.dispose](): void {
    if (this.#file === null) return;
    closeSync(this.#file.descriptor);
    rmSync(this.#file.path, { force: true });
    this.#file = null;
  }

  #write(block: Buffer): number {
    try {
      this.#file ??= openTemporary();
      const at = this.#file.size;
      for (let written = 0; written < block.length;) {
        written += writeSync(
          this.#file.descriptor,
          block,
          written,
          block.length - written,
          at + written,
        );
      }
      this.#file.size += block.length;
      return at;
    } catch (error) {
      throw toFileError(error, `write into ${tmpdir()}`, "Make room there, or set TMPDIR.");
    }
  }

  #read(at: number): Buffer {
    const block = Buffer.alloc(BLOCK_BYTES);
    if (this.#file === null) return block.subarray(0, 0);
    readSync(this.#file.descriptor, block, 0, BLOCK_BYTES, at);
    return block;
  }
}

function openTemporary() {
  const path = join(tmpdir(), `.triage-${randomUUID()}.tmp`);
  const descriptor = openSync(path, "wx+", 0o600);
  // Gone with the process, even when it is killed; Windows keeps open files.
  if (process.platform !== "win32") rmSync(path);
  return { descriptor, path, size: 0 };
}
