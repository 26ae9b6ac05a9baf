import { existsSync, fstatSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Writable } from "node:stream";
import { parseEnv } from "node:util";
import { systemClock } from "./clock.ts";
import { type CliContext, trimEnvironment } from "./context.ts";
import {
  CliError,
  exitCodes,
  InterruptedError,
  describeSystemError,
  isBrokenPipe,
  systemErrorCode,
  UsageError,
} from "./errors.ts";
import { readTextFile } from "./read-text-file.ts";

/** A program: a function from words to an exit code. */
export type Program = (words: readonly string[], context: CliContext) => Promise<number>;

/** Names of a program for its messages. */
export interface ProgramOptions {
  /** Such as "The router"; begins the line about an unexpected error. */
  readonly name: string;
  /** Whether the message of an error that is no `CliError` is meant for people. @default no */
  readonly isForPerson?: (error: Error) => boolean;
}

/**
 * Runs a program in this process, with the variables of `.env` or of `--env-file FILE`. The first Ctrl-C or SIGTERM aborts its signal, the second ends
 * it. If the reader ends, as in `| head`, the run goes on without output. Each error is one line.
 */
export async function runProgram(
  program: Program,
  options: ProgramOptions,
  process: NodeJS.Process = globalThis.process,
): Promise<void> {
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => interruption.abort(new InterruptedError(signal)));
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", ignoreBrokenPipe);
    finishShortWrites(stream);
  }
  process.on("uncaughtException", (error) => {
    process.stderr.write(describeDefect(error, options.name));
    process.exit(exitCodes.failed);
  });
  const context = readContext(process, interruption);
  const run: Program = async (typedWords) => {
    const words = await loadVariables(typedWords, context.cwd, process.env);
    return program(words, { ...context, env: trimEnvironment(process.env) });
  };
  process.exitCode = await runToExitCode(run, process.argv.slice(2), { ...options, context });
}

/** Makes a stream into a file write a whole text or fail: Node ignores that a nearly full disk takes a part of it. */
function finishShortWrites(stream: Writable & { readonly fd?: number }): void {
  const { fd } = stream;
  if (fd === undefined || !fstatSync(fd).isFile()) return; // Node checks pipes and terminals.
  const write = (text: Buffer, _encoding: string, callback: (error?: Error) => void) => {
    try {
      for (let at = 0; at < text.length;) at += writeSync(fd, text, at);
    } catch (error) {
      return callback(error as Error);
    }
    callback();
  };
  Object.assign(stream, { _write: write });
}

const OPTION = "--env-file";

/** Sets the variables of a file that are not set, and returns the words without the file's option. */
async function loadVariables(words: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  const at = words.findIndex((word) => word === OPTION || word.startsWith(`${OPTION}=`));
  const word = words[at] ?? `${OPTION}=.env`;
  const file = word === OPTION ? words[at + 1] : word.slice(`${OPTION}=`.length);
  if (!file) throw new UsageError(`${OPTION} needs a value: ${OPTION} <file>.`);
  const path = resolve(cwd, file);
  if (at !== -1 || existsSync(path)) {
    const text = await readTextFile(path, `${OPTION} takes a file of lines such as NAME=value.`);
    for (const [name, value] of Object.entries(parseEnv(text))) env[name] ??= value;
  }
  if (at === -1) return words;
  return words.toSpliced(at, word === OPTION ? 2 : 1);
}

function readContext(program: NodeJS.Process, interruption: AbortController): CliContext {
  const { stdin, stdout, stderr } = program;
  const env = trimEnvironment(program.env);
  const { signal } = interruption;
  return {
    env,
    // npm runs scripts in the repository's folder; INIT_CWD is the folder of the person.
    cwd: env["INIT_CWD"] ?? program.cwd(),
    stdin,
    stdout,
    stderr,
    signal,
    clock: systemClock,
    exitCode: 0,
    confirm: stdin.isTTY && stderr.isTTY ? (question) => ask(question, program, signal) : null,
  };
}

async function ask(question: string, program: NodeJS.Process, signal: AbortSignal) {
  const terminal = createInterface({ input: program.stdin, output: program.stderr });
  // Readline handles Ctrl-C itself; here it must end the run.
  terminal.once("SIGINT", () => program.kill(program.pid, "SIGINT"));
  const answer = await terminal.question(question, { signal }).catch(() => "no");
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

/** Runs a program, and returns its exit code; an error becomes one line. */
export async function runToExitCode(
  program: Program,
  words: readonly string[],
  { context, name, isForPerson }: ProgramOptions & { context: CliContext },
): Promise<number> {
  try {
    return await program(words, context);
  } catch (thrownValue) {
    const error = toKnownError(thrownValue, context.signal);
    const isExpected = error instanceof CliError;
    const isMeant = isExpected || (error instanceof Error && isForPerson?.(error) === true);
    context.stderr.write(isMeant ? `${error.message}\n` : describeDefect(error, name));
    return isExpected ? error.exitCode : exitCodes.failed;
  }
}

/**
 * Describes an unexpected error in one line: class and place, without its message, which may quote
 * a key or personal data. A full disk is reported as such.
 */
export function describeDefect(error: unknown, name: string): string {
  const advice = isFailedWrite(error) ? printAdvice[systemErrorCode(error) ?? ""] : undefined;
  if (advice !== undefined) {
    return `${name} cannot print: ${describeSystemError(error)}. ${advice}\n`;
  }
  const what = error instanceof Error ? error.name : `value of type ${typeof error}`;
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const frame = stack.split("\n").find((line) => /^\s+at /.test(line));
  return `${name} failed with an unexpected ${what}${frame === undefined ? "" : ` ${frame.trim()}`}\n`;
}

const makeRoom = "Make room there and run again.";

const printAdvice: Readonly<Record<string, string>> = {
  ENOSPC: makeRoom,
  EDQUOT: makeRoom,
  EFBIG: "Print to another disk.",
};

// An error about a named file was reported with its path; standard output has no path to report.
function isFailedWrite(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "write";
}

/** Returns the interruption, also if a library wrapped it in its own error. */
function toKnownError(error: unknown, { aborted: isAborted, reason }: AbortSignal): unknown {
  const isAbort = error === reason || (error instanceof Error && error.name === "AbortError");
  if (!isAborted || !isAbort) return error;
  return reason instanceof CliError ? reason : new InterruptedError("SIGINT");
}

function ignoreBrokenPipe(error: Error): void {
  if (!isBrokenPipe(error)) throw error;
}
