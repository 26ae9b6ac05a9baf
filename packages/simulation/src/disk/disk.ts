import { DatabaseSync } from "node:sqlite";
import { dirname } from "node:path";
import type { Random } from "../time/random.ts";

/** A file, by its content: what was written, and what outlasts a power loss. */
export interface StoredFile {
  readonly inode: bigint;
  bytes: Buffer;
  durable: Buffer;
}

/** A database on the disk. Its last commits are lost with the power if they were not synced. */
export interface StoredDatabase {
  readonly database: DatabaseSync;
  /** The content that outlasts a power loss; null if that is all of it. */
  durable: Uint8Array | null;
}

/** The disk of one machine; it outlasts the processes. */
export class Disk {
  readonly #random: Random;
  /** The files by their names, and those names that outlast a power loss. */
  readonly names = new Map<string, StoredFile>();
  readonly #durableNames = new Map<string, StoredFile>();
  readonly databases = new Map<string, StoredDatabase>();
  /** The locked files, by their paths. */
  readonly locks = new Set<string>();
  #inodes = 0n;

  constructor(random: Random) {
    this.#random = random;
  }

  createFile(path: string): StoredFile {
    this.#inodes += 1n;
    const file = { inode: this.#inodes, bytes: Buffer.alloc(0), durable: Buffer.alloc(0) };
    this.names.set(path, file);
    return file;
  }

  /** Makes the names in a folder outlast a power loss. */
  syncNames(folder: string): void {
    for (const path of new Set([...this.names.keys(), ...this.#durableNames.keys()])) {
      if (dirname(path) === folder) this.#keepName(path);
    }
  }

  /** Returns the database under a path, and creates it if there is none. */
  databaseAt(path: string): StoredDatabase {
    const known = this.databases.get(path);
    if (known !== undefined) return known;
    const made = { database: new DatabaseSync(":memory:"), durable: null };
    this.databases.set(path, made);
    return made;
  }

  /** A process has died: its locks are free, and what it did not commit is undone. */
  release(): void {
    this.locks.clear();
    for (const { database } of this.databases.values()) {
      if (database.isTransaction) database.exec("ROLLBACK");
    }
  }

  /** Loses what was not synced. A name that was not may be lost or not, as the system likes. */
  losePower(): void {
    this.release();
    const changed = [...new Set([...this.names.keys(), ...this.#durableNames.keys()])];
    for (const path of changed) {
      if (this.names.get(path) === this.#durableNames.get(path)) continue;
      if (this.#random.chance(0.5)) this.#keepName(path);
    }
    this.names.clear();
    for (const [path, file] of this.#durableNames) {
      file.bytes = file.durable;
      this.names.set(path, file);
    }
    for (const stored of this.databases.values()) {
      if (stored.durable === null) continue;
      stored.database.deserialize(stored.durable);
      stored.durable = null;
    }
  }

  #keepName(path: string): void {
    const file = this.names.get(path);
    if (file === undefined) this.#durableNames.delete(path);
    else this.#durableNames.set(path, file);
  }
}
