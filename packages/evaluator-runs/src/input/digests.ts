import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toFileError } from "evaluator-kit";

const FIRST_CAPACITY = 512;

/**
 * Numbers digests in the order in which they first come, from 0. A million take 60 MB, where a Map
 * of their texts takes 150 MB.
 */
export class DigestTable {
  readonly #digestBytes: number;
  #digests: Buffer;
  // A number plus one at the slot its digest begins the search from, or at the next that was free.
  #slots: Uint32Array;
  #size = 0;

  /**
   * @param digestBytes - The length of all digests, at least 4.
   * @param capacity - How many will come, when that is known: room is then made once.
   */
  constructor(digestBytes: number, capacity = FIRST_CAPACITY) {
    this.#digestBytes = digestBytes;
    this.#digests = Buffer.alloc(Math.max(1, capacity) * digestBytes);
    this.#slots = new Uint32Array(slotsFor(capacity));
  }

  /** How many different digests have come. */
  get size(): number {
    return this.#size;
  }

  /** Returns the number of a digest; a new one has the `size` of before. */
  add(digest: Uint8Array): number {
    const slot = this.#slotOf(digest);
    const known = (this.#slots[slot] ?? 0) - 1;
    if (known >= 0) return known;
    if (this.#size * this.#digestBytes === this.#digests.length) {
      this.#grow();
      return this.add(digest);
    }
    this.#digests.set(digest, this.#size * this.#digestBytes);
    this.#size += 1;
    this.#slots[slot] = this.#size;
    return this.#size - 1;
  }

  /** Returns the digest of a number. */
  at(number: number): Buffer {
    const start = number * this.#digestBytes;
    return this.#digests.subarray(start, start + this.#digestBytes);
  }

  // Byte by byte: a view of each digest costs more than what is done with it.
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
    this.#slots = new Uint32Array(slotsFor(this.#size * 2));
    for (let number = 0; number < this.#size; number += 1) {
      this.#slots[this.#slotOf(this.at(number))] = number + 1;
    }
  }
}

// A power of two, of which at most half is taken.
function slotsFor(capacity: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, capacity) * 2));
}

/** A list of whole numbers from 0 to 4,294,967,295 in half the memory of an array, which a million need. */
export class NumberList {
  #numbers: Uint32Array;
  #length = 0;

  /** @param capacity - How many will come, when that is known: room is then made once. */
  constructor(capacity = 1024) {
    this.#numbers = new Uint32Array(Math.max(1, capacity));
  }

  /** How many numbers there are. */
  get length(): number {
    return this.#length;
  }

  /** Adds a number at the end. */
  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = new Uint32Array(this.#length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#length] = number;
    this.#length += 1;
  }

  /** Returns the number at an index; 0 beyond the end. */
  at(index: number): number {
    return this.#numbers[index] ?? 0;
  }

  /** Adds 1 to the number at an index, or adds a 1 at the end; returns what was there before. */
  increase(index: number): number {
    if (index === this.#length) this.push(0);
    const before = this.at(index);
    this.#numbers[index] = before + 1;
    return before;
  }
}

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

/** Opens an empty file that is gone with the process. */
export function openTemporary() {
  const path = join(tmpdir(), `.triage-${randomUUID()}.tmp`);
  const descriptor = openSync(path, "wx+", 0o600);
  // Gone with the process, even when it is killed; Windows keeps open files.
  if (process.platform !== "win32") rmSync(path);
  return { descriptor, path, size: 0 };
}
