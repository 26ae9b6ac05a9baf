import type { DatabaseSync } from "node:sqlite";
import type { ProcessClock } from "../time/process-clock.ts";
import type { Disk, StoredDatabase } from "./disk.ts";
import type { DiskFaults } from "./disk-faults.ts";

const FULL = 2; // PRAGMA synchronous

interface Opened {
  readonly disk: Disk;
  readonly faults: DiskFaults;
  readonly clock: ProcessClock;
}

/** Opens databases of a disk as a process does: SQLite itself, whose commits may fail or be lost. */
export function openOnDisk(opened: Opened): (path: string) => DatabaseSync {
  return (path) =>
    (path.endsWith(".lock")
      ? openLock(path, opened)
      : new DiskDatabase(opened.disk.databaseAt(path), opened)) as unknown as DatabaseSync;
}

/** Locks a file as SQLite does, until it is closed or the process dies. */
function openLock(path: string, { disk }: Opened) {
  let isHeld = false;
  return {
    exec() {
      if (disk.locks.has(path)) throw sqliteError(5, "database is locked");
      disk.locks.add(path);
      isHeld = true;
    },
    close: () => void (isHeld && disk.locks.delete(path)),
  };
}

/** A connection to a database; statements that commit are operations of the disk. */
class DiskDatabase {
  readonly #stored: StoredDatabase;
  readonly #opened: Opened;

  constructor(stored: StoredDatabase, opened: Opened) {
    this.#stored = stored;
    this.#opened = opened;
    // Is a setting of each connection.
    stored.database.exec("PRAGMA synchronous = FULL");
  }

  get isTransaction(): boolean {
    return this.#stored.database.isTransaction;
  }

  prepare(sql: string) {
    const { database } = this.#stored;
    if (/^BEGIN/i.test(sql)) return { run: () => this.#begin(sql) };
    if (/^COMMIT/i.test(sql)) return { run: () => this.#commit(() => database.exec(sql)) };
    return database.prepare(sql);
  }

  exec(sql: string): void {
    const { database } = this.#stored;
    if (!/\bCOMMIT\b/i.test(sql)) {
      if (this.isTransaction || !/^ROLLBACK/i.test(sql)) database.exec(sql);
      return;
    }
    const before = database.serialize();
    this.#commit(() => database.exec(sql));
    if (this.#synchronous < FULL) this.#stored.durable ??= before;
  }

  close(): void {
    if (this.isTransaction && !this.#opened.clock.isDead) this.#stored.database.exec("ROLLBACK");
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #begin(sql: string): void {
    if (this.#synchronous < FULL) this.#stored.durable ??= this.#stored.database.serialize();
    this.#stored.database.exec(sql);
  }

  #commit(commit: () => void): void {
    const { faults, clock } = this.#opened;
    const fault = faults.next("commit", clock);
    if (fault === "sync") throw sqliteError(10, "disk I/O error");
    if (fault !== null) throw sqliteError(13, "database or disk is full");
    commit();
    if (this.#synchronous >= FULL) this.#stored.durable = null;
  }

  get #synchronous(): number {
    const row = this.#stored.database.prepare("PRAGMA synchronous").get();
    return Number(row?.["synchronous"]);
  }
}

function sqliteError(errcode: number, errstr: string): Error {
  return Object.assign(new Error(errstr), { code: "ERR_SQLITE_ERROR", errcode, errstr });
}
