import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CliContext, CliError, printable } from "evaluator-kit";
import type { Cell, QueryTable } from "../postgres/index.ts";
import type { QueryRows } from "./print-rows.ts";
import { QueryProblem, tookTooLong, tooLarge } from "./query-text.ts";
import {
  type Call,
  MEMORY_MB,
  processFile,
  type QueryDatabase,
  type Reply,
  TOO_BIG,
} from "./sqlite-process.ts";

const ROWS_AT_ONCE = 500;

/** Tables and one query of them, in a process that is ended with it. */
export class SqliteQuery implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "triage-query-"));
  readonly #child: ChildProcess;
  readonly #context: Pick<CliContext, "signal" | "clock">;
  #added: (readonly [table: string, cells: readonly Cell[]])[] = [];
  #reply = Promise.withResolvers<Reply>();
  #timeoutMs = Number.POSITIVE_INFINITY;
  #startedAtMs = 0;

  constructor(context: Pick<CliContext, "signal" | "clock">) {
    this.#context = context;
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

  /** Makes tables without rows. */
  async create(tables: readonly QueryTable[]): Promise<void> {
    await this.#call("create", tables);
  }

  /** Adds a row to a table. */
  async add(table: string, cells: readonly Cell[]): Promise<void> {
    this.#added.push([table, cells]);
    if (this.#added.length >= ROWS_AT_ONCE) await this.#call("add", this.#added.splice(0));
  }

  /**
   * Begins the query; no row can be added after it.
   *
   * @throws QueryProblem
   */
  async ask(text: string, timeoutMs: number): Promise<QueryRows> {
    await this.#call("add", this.#added.splice(0));
    this.#timeoutMs = timeoutMs;
    this.#startedAtMs = this.#context.clock.now();
    return { names: await this.#call("ask", text, timeoutMs), rows: this.#rows() };
  }

  async *#rows(): AsyncGenerator<readonly Cell[]> {
    for (let rows = await this.#call("next"); rows.length > 0; rows = await this.#call("next")) {
      yield* rows;
    }
  }

  async #call<TName extends keyof QueryDatabase>(
    name: TName,
    ...input: Parameters<QueryDatabase[TName]>
  ): Promise<ReturnType<QueryDatabase[TName]>> {
    this.#reply = Promise.withResolvers();
    // Without the callback, a process that has just ended would be an error of its own.
    this.#child.send({ name, input } satisfies Call, () => {});
    if (this.#hasEnded) throw this.#endError(this.#child.signalCode);
    const { error, result } = await this.#reply.promise;
    if (error !== undefined) throw toProblem(error);
    return result as ReturnType<QueryDatabase[TName]>;
  }

  get #hasEnded(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    return pid === undefined || exitCode !== null || signalCode !== null;
  }

  #endError(end: string | number | null): unknown {
    const { signal, clock } = this.#context;
    if (signal.aborted) return signal.reason;
    if (clock.now() - this.#startedAtMs >= this.#timeoutMs) return tookTooLong(this.#timeoutMs);
    if (end === "SIGKILL") return needsTooMuch();
    return new CliError(
      printable`The process of the query has failed (${String(end)}). Try again.`,
    );
  }

  /** Kills the process and removes its folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#hasEnded ? null : once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

const NOT_ALLOWED = 23;

/** Returns the error for what SQLite reported; one without a code is Node's, about memory. */
export function toProblem({ message, code }: NonNullable<Reply["error"]>): CliError {
  if (code === null) return needsTooMuch();
  if (code === TOO_BIG) return tooLarge();
  return new QueryProblem(
    code === NOT_ALLOWED
      ? printable`The query would do more than read the tables (${message}), and a query only reads.`
      : printable`The query is not one that SQLite can read: ${message}.`,
  );
}

function needsTooMuch(): CliError {
  return new CliError(`The query needed more than ${MEMORY_MB} MB. Ask for less of it.`);
}
