import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type CliContext, CliError, printable } from "evaluator-kit";
import type { Cell, QueryTable } from "../postgres/index.ts";
import { type Call, processFile, type Reply, TOO_BIG } from "./sqlite-process.ts";

const MEMORY_MB = 512;
const types = { text: "TEXT", number: "REAL", json: "TEXT" };
const NOT_ALLOWED = 23;

/** Tables in a temporary file, and one query of them in a process that is ended with it. */
export class SqliteQuery implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "triage-query-"));
  readonly #path = join(this.#folder, "tables.sqlite");
  readonly #child: ChildProcess;
  readonly #context: Pick<CliContext, "signal" | "clock">;
  #tables: DatabaseSync | null = null;
  #reply = Promise.withResolvers<Reply>();
  #timeoutMs = Number.POSITIVE_INFINITY;
  #startedAtMs = 0;

  constructor(context: Pick<CliContext, "signal" | "clock">) {
    this.#context = context;
    // Before there are tables: it removes them if this process is killed.
    this.#child = fork(processFile, [String(process.pid), this.#folder], {
      cwd: this.#folder,
      // Neither this program's variables nor its flags, which may name a file with keys.
      env: { SQLITE_TMPDIR: this.#folder, TMP: this.#folder },
      execArgv: [],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      signal: context.signal,
      killSignal: "SIGKILL",
    });
    this.#child.on("message", (reply: Reply) => this.#reply.resolve(reply));
    this.#child.on("error", (error) => this.#reply.reject(this.#endError(error.message)));
    this.#child.on("exit", (end, signal) => this.#reply.reject(this.#endError(signal ?? end)));
  }

  /** Makes empty tables in place of those before, and returns a function that adds a row to one. */
  create(tables: readonly QueryTable[]): (table: string, cells: readonly Cell[]) => void {
    this.#tables?.close();
    rmSync(this.#path, { force: true });
    const database = (this.#tables = new DatabaseSync(this.#path));
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
    this.#timeoutMs = timeoutMs;
    this.#startedAtMs = this.#context.clock.now();
    const { names = [] } = await this.#call({
      path: this.#path,
      text,
      timeoutMs,
      memoryMb: MEMORY_MB,
    });
    return { names, rows: this.#rows() };
  }

  async *#rows(): AsyncGenerator<readonly Cell[]> {
    for (;;) {
      const { rows = [] } = await this.#call("next");
      if (rows.length === 0) return;
      yield* rows;
    }
  }

  async #call(call: Call): Promise<Reply> {
    this.#reply = Promise.withResolvers();
    // Without the callback, a process that has just ended would be an error of its own.
    this.#child.send(call, () => {});
    if (this.#hasEnded) throw this.#endError(this.#child.signalCode);
    const reply = await this.#reply.promise;
    if (reply.error !== undefined) throw toProblem(reply.error);
    return reply;
  }

  get #hasEnded(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  #endError(end: string | number | null): unknown {
    const { signal, clock } = this.#context;
    if (signal.aborted) return signal.reason;
    if (clock.now() - this.#startedAtMs >= this.#timeoutMs) return failed("query-time");
    if (end === "SIGKILL") return needsTooMuch();
    return new CliError(
      printable`The process of the query has failed (${String(end)}). Try again.`,
    );
  }

  /** Kills the process and removes its folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#tables?.close();
    const ended = this.#hasEnded ? null : once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns the error for what SQLite reported; one without a code is Node's, about memory. */
export function toProblem({ message, code }: NonNullable<Reply["error"]>): CliError {
  if (code === null) return needsTooMuch();
  if (code === TOO_BIG) return failed("query-size");
  return failed(
    "query",
    code === NOT_ALLOWED
      ? printable`The query would do more than read the tables (${message}), and a query only reads.`
      : printable`The query is not one that SQLite can read: ${message}.`,
  );
}

function failed(failure: string, message = ""): CliError {
  return Object.assign(new CliError(message), { failure });
}

function needsTooMuch(): CliError {
  return new CliError(`The query needed more than ${MEMORY_MB} MB. Ask for less of it.`);
}
