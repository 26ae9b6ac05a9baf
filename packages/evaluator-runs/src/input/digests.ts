import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toFileError } from "evaluator-kit";

const FIRST_CAPACITY = 512;

/**
 * Numbers digests in the order of their first occurrence, from 0, and counts them. A million take
 * 60 MB; a Map of their texts takes 150 MB.
 */
export class DigestTable {
  readonly #digestBytes: number;
  #digests: Buffer;
  #counts: Uint32Array;
  // Each slot has a number plus one; a search begins at the slot of the digest, and goes to the next.
  #slots: Uint32Array;
  #size = 0;

  /**
   * @param digestBytes - The length of all digests, at least 4.
   * @param capacity - The expected number of digests, if it is known.
   */
  constructor(digestBytes: number, capacity = FIRST_CAPACITY) {
    this.#digestBytes = digestBytes;
    this.#digests = Buffer.alloc(Math.max(1, capacity) * digestBytes);
    this.#counts = new Uint32Array(Math.max(1, capacity));
    this.#slots = new Uint32Array(slotsFor(capacity));
  }

  /** The number of different digests. */
  get size(): number {
    return this.#size;
  }

  /** Returns the number of a digest, without counting it; a new one gets the `size` before the call. */
  add(digest: Uint8Array): number {
    const slot = this.#slotOf(digest);
    const known = (this.#slots[slot] ?? 0) - 1;
    if (known >= 0) return known;
    if (this.#size === this.#counts.length) {
      this.#grow();
      return this.add(digest);
    }
    this.#digests.set(digest, this.#size * this.#digestBytes);
    this.#size += 1;
    this.#slots[slot] = this.#size;
    return this.#size - 1;
  }

  /** Counts one occurrence of a number, and returns the count before. */
  increase(number: number): number {
    const before = this.count(number);
    this.#counts[number] = before + 1;
    return before;
  }

  /** Returns the count of a number. */
  count(number: number): number {
    return this.#counts[number] ?? 0;
  }

  /** Returns the digest of a number. */
  at(number: number): Buffer {
    const start = number * this.#digestBytes;
    return this.#digests.subarray(start, start + this.#digestBytes);
  }

  // Byte by byte: creating a view of each digest is slower than the search.
  #slotOf(digest: Uint8Array): number {
    const mask = this.#slots.length - 1;
    let slot = 0;
    for (let at = 0; at < 4; at += 1) slot = (slot << 8) | (digest[at] ?? 0);
    slot &= mask;
    for (let found = this.#slots[slot] ?? 0; found > 0; found = this.#slots[slot] ?? 0) {
      if (this.#holds(digest, found - 1)) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #holds(digest: Uint8Array, number: number): boolean {
    const start = number * this.#digestBytes;
    for (let at = 0; at < this.#digestBytes; at += 1) {
      if (digest[at] !== this.#digests[start + at]) return false;
    }
    return true;
  }

  #grow(): void {
    this.#digests = Buffer.concat([this.#digests], this.#digests.length * 2);
    const counts = new Uint32Array(this.#size * 2);
    counts.set(this.#counts);
    this.#counts = counts;
    this.#slots = new Uint32Array(slotsFor(this.#size * 2));
    for (let number = 0; number < this.#size; number += 1) {
      this.#slots[this.#slotOf(this.at(number))] = number + 1;
    }
  }
}

// A power of two, of which at most half is used.
function slotsFor(capacity: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, capacity) * 2));
}

/** The length of the digests of a {@link RepeatFinder}. */
export const DIGEST_BYTES = 16;
const ENTRY_BYTES = DIGEST_BYTES + 4;
const BUCKETS = 256;
// 200,000 records stay in memory, and the same number of ten million records.
const BLOCK_ENTRIES = 800;
const BLOCK_BYTES = BLOCK_ENTRIES * ENTRY_BYTES;

/**
 * Finds repeated digests in memory that does not grow with their number: after a limit, blocks of
 * digests with the same first byte go to a temporary file, and are compared by that byte.
 */
export class RepeatFinder implements Disposable {
  readonly #buckets = Array.from({ length: BUCKETS }, () => ({
    block: Buffer.alloc(0),
    used: 0,
    written: [] as number[],
  }));
  #length = 0;
  #file: ReturnType<typeof openTemporary> | null = null;

  /** Adds the next digest. */
  add(digest: Uint8Array): void {
    const bucket = this.#buckets[digest[0] ?? 0];
    if (bucket === undefined) return;
    // Grows with its content, so that few digests need little memory.
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

  /**
   * Returns each repeated digest: its index, that of the first equal one, and how many equal ones came
   * before it. The repeats of one digest are in order, others in any order.
   */
  *repeats() {
    for (const { block, used, written } of this.#buckets) {
      const length = written.length * BLOCK_ENTRIES + used / ENTRY_BYTES;
      if (length === 0) continue;
      const table = new DigestTable(DIGEST_BYTES, length);
      const firsts: number[] = [];
      const blocks = [...written.map((at) => () => this.#read(at)), () => block.subarray(0, used)];
      for (const read of blocks) {
        const entries = read();
        for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
          const number = table.add(entries.subarray(at, at + DIGEST_BYTES));
          const index = entries.readUInt32LE(at + DIGEST_BYTES);
          const first = (firsts[number] ??= index);
          const repeat = table.increase(number);
          if (repeat > 0) yield { index, first, repeat };
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
      const file = (this.#file ??= openTemporary());
      const at = file.size;
      for (let written = 0; written < block.length;) {
        const length = block.length - written;
        written += writeSync(file.descriptor, block, written, length, at + written);
      }
      file.size += block.length;
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

/** Opens an empty file that is removed with the process. */
export function openTemporary() {
  const path = join(tmpdir(), `.triage-${randomUUID()}.tmp`);
  const descriptor = openSync(path, "wx+", 0o600);
  // An open file without a name is removed even after a kill; Windows cannot do that.
  if (process.platform !== "win32") rmSync(path);
  return { descriptor, path, size: 0 };
}
