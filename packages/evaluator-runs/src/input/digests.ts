import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toFileError } from "evaluator-kit";

const DIGEST_BYTES = 16;
const ENTRY_BYTES = DIGEST_BYTES + 4;
const BUCKETS = 256;
// 200,000 records stay in memory, and the same number of ten million records.
const BLOCK_BYTES = 800 * ENTRY_BYTES;

/**
 * Finds repeated digests in memory that does not grow with their number: after a limit, blocks of
 * digests with the same first byte go to a temporary file, and are compared by that byte.
 */
export class RepeatFinder implements Disposable {
  readonly #buckets = Array.from({ length: BUCKETS }, () => ({
    block: Buffer.alloc(BLOCK_BYTES),
    used: 0,
    /** The places of earlier blocks in the file. */
    written: [] as number[],
  }));
  #length = 0;
  #file: ReturnType<typeof openTemporary> | null = null;
  #fileBytes = 0;

  /** Adds the next digest, of which the first 16 bytes count. */
  add(digest: Uint8Array): void {
    const bucket = this.#buckets[digest[0] ?? 0];
    if (bucket === undefined) return;
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
      const seen = new Map<string, { readonly first: number; repeat: number }>();
      const blocks = [...written.map((at) => () => this.#read(at)), () => block.subarray(0, used)];
      for (const read of blocks) {
        const entries = read();
        for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
          const digest = entries.toString("latin1", at, at + DIGEST_BYTES);
          const index = entries.readUInt32LE(at + DIGEST_BYTES);
          const found = seen.get(digest);
          if (found === undefined) seen.set(digest, { first: index, repeat: 0 });
          else {
            found.repeat += 1;
            yield { index, ...found };
          }
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
      writeFileSync(this.#file.descriptor, block);
    } catch (error) {
      throw toFileError(error, `write into ${tmpdir()}`, "Make room there, or set TMPDIR.");
    }
    this.#fileBytes += BLOCK_BYTES;
    return this.#fileBytes - BLOCK_BYTES;
  }

  #read(at: number): Buffer {
    const block = Buffer.alloc(BLOCK_BYTES);
    if (this.#file !== null) readSync(this.#file.descriptor, block, 0, BLOCK_BYTES, at);
    return block;
  }
}

/** Opens an empty file that is removed with the process. */
export function openTemporary() {
  const path = join(tmpdir(), `.triage-${randomUUID()}.tmp`);
  const descriptor = openSync(path, "wx+", 0o600);
  // An open file without a name is removed even after a kill; Windows cannot do that.
  if (process.platform !== "win32") rmSync(path);
  return { descriptor, path };
}
