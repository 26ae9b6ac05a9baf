import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { type CliContext, CliError, printable } from "evaluator-kit";
import type { Cell, QueryTable } from "../store/run-query.ts";
import { type Call, processFile, type Reply } from "./sqlite-process.ts";

const MEMORY_MB = 512;
const types = { text: "TEXT", number: "REAL", json: "TEXT" };

/** Tables in a temporary file, and one query of them in a process that is ended with it. */
export class SqliteQuery implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "evaluator-query-"));
  readonly #path = join(this.#folder, "tables.sqlite");
  readonly #context: Pick<CliContext, "signal" | "clock">;
  readonly #child: ChildProcess;
  #reply = Promise.withResolvers<Reply>();
  #tables: DatabaseSync | null = null;
  #endsAtMs = Number.POSITIVE_INFINITY;

  constructor(context: Pick<CliContext, "signal" | "clock">) {
    this.#context = context;
    const folder = this.#folder;
    // Before there are tables: it removes the folder if this process is killed.
    this.#child = fork(processFile, [String(process.pid), folder], {
      cwd: folder,
      // Neither this program's variables nor its flags, which may name a file with keys.
      env: { SQLITE_TMPDIR: folder, TMP: folder },
      execArgv: [],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      signal: context.signal,
      killSignal: "SIGKILL",
    });
    this.#child.on("message", (reply: Reply) => this.#reply.resolve(reply));
    this.#child.on("error", ({ message }) => this.#reply.resolve({ end: message }));
    this.#child.on("exit", (code, killedBy) => this.#reply.resolve({ end: killedBy ?? code }));
  }

  /** Makes empty tables in place of those before, and returns a function that adds a row to one. */
  create(tables: readonly QueryTable[]): (table: string, cells: readonly Cell[]) => void {
    this.#tables?.close();
    rmSync(this.#path, { force: true });
    const database = (this.#tables = new DatabaseSync(this.#path));
    // They keep a query from filling the memory.
    if (!("limits" in database)) {
      const { node } = process.versions;
      throw new CliError(`A query of a journal file needs Node 24.15, not ${node}.`);
    }
    database.exec("PRAGMA journal_mode = OFF; BEGIN");
    const inserts = new Map(
      tables.map(({ name, columns }) => {
        const fields = columns.map((column) => `${quoted(column.name)} ${types[column.type]}`);
        database.exec(`CREATE TABLE ${quoted(name)} (${fields.join(", ")})`);
        const places = columns.map(() => "?").join(", ");
        return [name, database.prepare(`INSERT INTO ${quoted(name)} VALUES (${places})`)];
      }),
    );
    return (table, cells) => {
      const values = cells.map((cell) => (typeof cell === "boolean" ? Number(cell) : cell));
      inserts.get(table)?.run(...values);
    };
  }

  /** Begins the query; no row can be added after it. Errors have a `failure` as those of PostgreSQL have. */
  async ask(text: string, timeoutMs: number) {
    this.#tables?.exec("COMMIT");
    this.#tables?.close();
    this.#tables = null;
    this.#endsAtMs = this.#context.clock.now() + timeoutMs;
    const call = { path: this.#path, text, timeoutMs, memoryMb: MEMORY_MB };
    const { names = [] } = await this.#call(call);
    return { names, rows: this.#rows() };
  }

  async *#rows(): AsyncGenerator<readonly Cell[]> {
    for (;;) {
      const { rows = [] } = await this.#call("next");
      if (rows.length === 0) return;
      yield* rows;
    }
  }

  /** Begins the query, or asks for more of its rows. */
  async #call(call: Call) {
    this.#reply = Promise.withResolvers();
    // Without the callback, sending to a process that has just ended would emit a second error.
    this.#child.send(call, () => {});
    const reply = this.#hasEnded ? { end: this.#child.signalCode } : await this.#reply.promise;
    const { end, error, ...result }: Reply = reply;
    if (end !== undefined) throw this.#endError(end);
    if (error !== undefined) throw toProblem(error);
    return result;
  }

  get #hasEnded(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  #endError(end: string | number | null): unknown {
    const { signal, clock } = this.#context;
    if (signal.aborted) return signal.reason;
    if (clock.now() >= this.#endsAtMs) return failed("query-time");
    if (end === "SIGKILL") return needsTooMuch();
    return new CliError(printable`The query's process failed (${String(end)}). Try again.`);
  }

  /** Kills the process and removes its folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#tables?.close();
    const endedPromise = this.#hasEnded ? null : once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await endedPromise;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function toProblem({ failure, message }: Record<"failure" | "message", string>): CliError {
  if (failure === "memory") return needsTooMuch();
  if (failure === "size") return failed("query-size");
  return failed(
    "query",
    failure === "writes"
      ? printable`A query only reads the tables (${message}).`
      : printable`SQLite refused the query: ${message}.`,
  );
}

function failed(failure: string, message = ""): CliError {
  return Object.assign(new CliError(message), { failure });
}

function needsTooMuch(): CliError {
  return new CliError(`The query needs over ${MEMORY_MB} MB. Ask for less.`);
}
