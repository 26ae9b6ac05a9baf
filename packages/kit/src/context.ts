import { styleText } from "node:util";

import type { Clock } from "./clock.ts";

/** Environment variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A target for text. */
export interface TextSink {
  /** Returns false if the stream is full until its `drain` event. */
  write(text: string): unknown;
  /** Whether it is a terminal. */
  readonly isTTY?: boolean;
  /** The width of the terminal; undefined if it is none, 0 if its size is unknown. */
  readonly columns?: number;
}

/** The parts of the process that a program uses. */
export interface CliContext {
  /** Values without surrounding space and quotes; a blank variable counts as unset. */
  readonly env: Environment;
  /** The folder that typed paths are relative to. */
  readonly cwd: string;
  readonly stdin: AsyncIterable<string | Uint8Array>;
  /** Results. */
  readonly stdout: TextSink;
  /** Progress, warnings and errors. */
  readonly stderr: TextSink;
  /** Aborts with an `InterruptedError` at the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The exit code if the program ends without an error, as `process.exitCode`. */
  exitCode: number;
  /** Asks a yes/no question; null if there is no terminal. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}

/** Returns text with its verdicts in green or red, if the output has colours. */
export function paintVerdicts(
  printedText: string,
  context: Pick<CliContext, "stdout" | "env">,
): string {
  if (!hasColours(context)) return printedText;
  return printedText.replace(
    /\b(?:holds|kept|no alarm|broken|refused|(?<!an )alarm)\b/g,
    (verdict) =>
      styleText(/holds|kept|no/.test(verdict) ? "green" : "red", verdict, {
        validateStream: false,
      }),
  );
}

/** Returns whether output has colours: as FORCE_COLOR or NO_COLOR says, else on a terminal. */
function hasColours({ stdout, env }: Pick<CliContext, "stdout" | "env">): boolean {
  const { FORCE_COLOR: forceColor, NO_COLOR: noColor } = env;
  if (forceColor !== undefined) return forceColor !== "0" && forceColor !== "false";
  return stdout.isTTY === true && noColor === undefined;
}

/** Returns the variables without surrounding space and quotes; a blank variable counts as unset. */
export function trimEnvironment(environment: Environment): Environment {
  const entries = Object.entries(environment).map(([variableName, variableValue]) => [
    variableName,
    trimVariable(variableValue ?? ""),
  ]);
  return Object.fromEntries(entries);
}

/** Docker passes the quotes of a line NAME="value" of its `--env-file` on, which shells and `.env` do not mean. */
function trimVariable(variableValue: string): string | undefined {
  const trimmedText = variableValue.trim();
  const [, , quotedText = trimmedText] = /^(["'])([^"']*)\1$/.exec(trimmedText) ?? [];
  return quotedText.trim() || undefined;
}
