import { type CliContext, readContext } from "./context.ts";
import { CliError, exitCodes, InterruptedError, UsageError } from "./errors.ts";
import { describeSystemError, isBrokenPipe, systemErrorCode } from "./system-error.ts";

/** A program: takes the words after its name, returns its exit code. */
export type Program = (words: readonly string[], context: CliContext) => Promise<number>;

/** How a program tells of itself. */
export interface ProgramOptions {
  /** Such as "The router"; begins the line about an unexpected error. */
  readonly name: string;
  /** What `--help` prints; a `UsageError` says how to ask for it. @default nothing */
  readonly help?: { readonly command: string; readonly usage?: string };
  /**
   * Returns whether an error that is no `CliError` has a message for a person. @default none has
   */
  readonly isForPerson?: (error: Error) => boolean;
}

/**
 * Runs a program in this process: the first Ctrl-C or SIGTERM aborts its signal, the second ends
 * it; a reader that has seen enough, as in `| head`, ends the printing and not the run; an error of any
 * kind is one line.
 */
export async function runProgram(program: Program, options: ProgramOptions): Promise<void> {
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => interruption.abort(new InterruptedError(signal)));
  }
  for (const stream of [process.stdout, process.stderr]) stream.on("error", ignoreBrokenPipe);
  process.on("uncaughtException", (error) => {
    process.stderr.write(describeDefect(error, options.name));
    process.exit(exitCodes.failed);
  });
  const context = readContext(process, interruption);
  process.exitCode = await runToExitCode(program, process.argv.slice(2), { ...options, context });
}

/** Runs a program, or prints its help; prints what it throws as one line, and returns its exit code. */
export async function runToExitCode(
  program: Program,
  words: readonly string[],
  { context, ...options }: ProgramOptions & { context: CliContext },
): Promise<number> {
  if (options.help?.usage !== undefined && asksForHelp(words)) {
    context.stdout.write(`${options.help.usage.trim()}\n`);
    return exitCodes.done;
  }
  try {
    return await program(words, context);
  } catch (error) {
    const { text, exitCode } = describeFailure(error, { ...options, signal: context.signal });
    context.stderr.write(text);
    return exitCode;
  }
}

/** Returns whether words ask how a program is typed: then they may be anything else besides. */
export function asksForHelp(words: readonly string[]): boolean {
  return words.includes("--help") || words.includes("-h");
}

/** Returns the message of a usage error and where to read on, not pushed away by pages of usage. */
export function toUsageText(message: string, command: string): string {
  return `${message}\nFor its options: ${command} --help`;
}

/**
 * Returns one line about an error that nobody expected: its class and where it arose, without its
 * message, which may quote a key or somebody's text. A full disk under the output is told as one.
 */
export function describeDefect(error: unknown, name: string): string {
  if (isFailedPrint(error)) {
    return `${name} cannot print: ${describeSystemError(error)}. Make room there and run again.\n`;
  }
  const what = error instanceof Error ? error.name : `value of type ${typeof error}`;
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const frame = stack.split("\n").find((line) => /^\s+at /.test(line));
  return `${name} failed with an unexpected ${what}${frame === undefined ? "" : ` ${frame.trim()}`}\n`;
}

function describeFailure(
  error: unknown,
  { name, help, isForPerson, signal }: ProgramOptions & { signal: AbortSignal },
): { text: string; exitCode: number } {
  const known = toKnownError(error, signal);
  if (known instanceof UsageError && help !== undefined) {
    return { text: `${toUsageText(known.message, help.command)}\n`, exitCode: known.exitCode };
  }
  if (known instanceof CliError) return { text: `${known.message}\n`, exitCode: known.exitCode };
  const isMeant = error instanceof Error && isForPerson?.(error) === true;
  const text = isMeant ? `${error.message}\n` : describeDefect(error, name);
  return { text, exitCode: exitCodes.failed };
}

// An error about a named file was reported with its path; standard output has no path to report.
function isFailedPrint(error: unknown): boolean {
  if (!(error instanceof Error && "syscall" in error && error.syscall === "write")) return false;
  const code = systemErrorCode(error);
  return code === "ENOSPC" || code === "EDQUOT";
}

/** Returns the interruption where a library wrapped it in an error of its own. */
function toKnownError(error: unknown, { aborted, reason }: AbortSignal): unknown {
  const isAbort = error === reason || (error instanceof Error && error.name === "AbortError");
  if (!aborted || !isAbort) return error;
  return reason instanceof CliError ? reason : new InterruptedError("SIGINT");
}

function ignoreBrokenPipe(error: Error): void {
  if (!isBrokenPipe(error)) throw error;
}
