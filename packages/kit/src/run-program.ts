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
  nodeProcess: NodeJS.Process = globalThis.process,
): Promise<void> {
  const interruption = new AbortController();
  for (const signalName of ["SIGINT", "SIGTERM"] as const) {
    nodeProcess.once(signalName, () => interruption.abort(new InterruptedError(signalName)));
  }
  for (const outputStream of [nodeProcess.stdout, nodeProcess.stderr]) {
    outputStream.on("error", ignoreBrokenPipe);
    finishShortWrites(outputStream);
  }
  nodeProcess.on("uncaughtException", (error) => {
    nodeProcess.stderr.write(describeDefect(error, options.name));
    nodeProcess.exit(exitCodes.failed);
  });
  const context = readContext(nodeProcess, interruption);
  const runWithVariables: Program = async (typedWords) => {
    const programWords = await loadVariables(typedWords, context.cwd, nodeProcess.env);
    return program(programWords, { ...context, env: trimEnvironment(nodeProcess.env) });
  };
  nodeProcess.exitCode = await runToExitCode(runWithVariables, nodeProcess.argv.slice(2), {
    ...options,
    context,
  });
}

/** Makes a stream into a file write a whole text or fail: Node ignores that a nearly full disk takes a part of it. */
function finishShortWrites(outputStream: Writable & { readonly fd?: number }): void {
  const { fd } = outputStream;
  if (fd === undefined || !fstatSync(fd).isFile()) return; // Node checks pipes and terminals.
  const writeWhole = (
    writtenBytes: Buffer,
    _encoding: string,
    callback: (error?: Error) => void,
  ) => {
    try {
      for (let writtenCount = 0; writtenCount < writtenBytes.length;)
        writtenCount += writeSync(fd, writtenBytes, writtenCount);
    } catch (error) {
      return callback(error as Error);
    }
    callback();
  };
  Object.assign(outputStream, { _write: writeWhole });
}

const ENV_FILE_OPTION = "--env-file";

/** Sets the variables of a file that are not set, and returns the words without the file's option. */
async function loadVariables(
  typedWords: readonly string[],
  currentFolder: string,
  environment: NodeJS.ProcessEnv,
) {
  const optionIndex = typedWords.findIndex(
    (typedWord) => typedWord === ENV_FILE_OPTION || typedWord.startsWith(`${ENV_FILE_OPTION}=`),
  );
  const optionWord = typedWords[optionIndex] ?? `${ENV_FILE_OPTION}=.env`;
  const variablesFile =
    optionWord === ENV_FILE_OPTION
      ? typedWords[optionIndex + 1]
      : optionWord.slice(`${ENV_FILE_OPTION}=`.length);
  if (!variablesFile)
    throw new UsageError(`${ENV_FILE_OPTION} needs a value: ${ENV_FILE_OPTION} <file>.`);
  const variablesPath = resolve(currentFolder, variablesFile);
  if (optionIndex !== -1 || existsSync(variablesPath)) {
    const variablesText = await readTextFile(
      variablesPath,
      `${ENV_FILE_OPTION} takes a file of NAME=value lines.`,
    );
    for (const [variableName, variableValue] of Object.entries(parseEnv(variablesText)))
      environment[variableName] ??= variableValue;
  }
  if (optionIndex === -1) return typedWords;
  return typedWords.toSpliced(optionIndex, optionWord === ENV_FILE_OPTION ? 2 : 1);
}

function readContext(nodeProcess: NodeJS.Process, interruption: AbortController): CliContext {
  const { stdin, stdout, stderr } = nodeProcess;
  const env = trimEnvironment(nodeProcess.env);
  const { signal } = interruption;
  return {
    env,
    // npm runs scripts in the repository's folder; INIT_CWD is the folder of the person.
    cwd: env["INIT_CWD"] ?? nodeProcess.cwd(),
    stdin,
    stdout,
    stderr,
    signal,
    clock: systemClock,
    exitCode: 0,
    confirm:
      stdin.isTTY && stderr.isTTY
        ? (question) => confirmOnTerminal(question, nodeProcess, signal)
        : null,
  };
}

async function confirmOnTerminal(
  question: string,
  nodeProcess: NodeJS.Process,
  signal: AbortSignal,
) {
  const terminal = createInterface({ input: nodeProcess.stdin, output: nodeProcess.stderr });
  // Readline handles Ctrl-C itself; here it must end the run.
  terminal.once("SIGINT", () => nodeProcess.kill(nodeProcess.pid, "SIGINT"));
  const typedAnswer = await terminal.question(question, { signal }).catch(() => "no");
  terminal.close();
  return /^y(es)?$/i.test(typedAnswer.trim());
}

/** Runs a program, and returns its exit code; an error becomes one line. */
export async function runToExitCode(
  program: Program,
  programWords: readonly string[],
  { context, name, isForPerson }: ProgramOptions & { context: CliContext },
): Promise<number> {
  try {
    return await program(programWords, context);
  } catch (thrownValue) {
    const knownError = toKnownError(thrownValue, context.signal);
    const isExpected = knownError instanceof CliError;
    const isForReader =
      isExpected || (knownError instanceof Error && isForPerson?.(knownError) === true);
    context.stderr.write(
      isForReader ? `${knownError.message}\n` : describeDefect(knownError, name),
    );
    return isExpected ? knownError.exitCode : exitCodes.failed;
  }
}

/**
 * Describes an unexpected error in one line: class and place, without its message, which may quote
 * a key or personal data. A full disk is reported as such.
 */
export function describeDefect(thrownValue: unknown, programName: string): string {
  const writeAdvice = isFailedWrite(thrownValue)
    ? writeAdviceByCode[systemErrorCode(thrownValue) ?? ""]
    : undefined;
  if (writeAdvice !== undefined) {
    return `${programName} cannot print: ${describeSystemError(thrownValue)}. ${writeAdvice}\n`;
  }
  const errorKind =
    thrownValue instanceof Error ? thrownValue.name : `value of type ${typeof thrownValue}`;
  const stackText = thrownValue instanceof Error ? (thrownValue.stack ?? "") : "";
  const topFrame = stackText.split("\n").find((stackLine) => /^\s+at /.test(stackLine));
  return `${programName} failed with an unexpected ${errorKind}${topFrame === undefined ? "" : ` ${topFrame.trim()}`}\n`;
}

const makeRoomAdvice = "Make room there and run again.";

const writeAdviceByCode: Readonly<Record<string, string>> = {
  ENOSPC: makeRoomAdvice,
  EDQUOT: makeRoomAdvice,
  EFBIG: "Print to another disk.",
};

// An error about a named file was reported with its path; standard output has no path to report.
function isFailedWrite(thrownValue: unknown): boolean {
  return (
    thrownValue instanceof Error && "syscall" in thrownValue && thrownValue.syscall === "write"
  );
}

/** Returns the interruption, also if a library wrapped it in its own error. */
function toKnownError(thrownValue: unknown, { aborted: isAborted, reason }: AbortSignal): unknown {
  const isAbortError =
    thrownValue === reason || (thrownValue instanceof Error && thrownValue.name === "AbortError");
  if (!isAborted || !isAbortError) return thrownValue;
  return reason instanceof CliError ? reason : new InterruptedError("SIGINT");
}

function ignoreBrokenPipe(streamError: Error): void {
  if (!isBrokenPipe(streamError)) throw streamError;
}
