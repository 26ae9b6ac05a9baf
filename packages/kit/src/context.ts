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
export function paintVerdicts(text: string, context: Pick<CliContext, "stdout" | "env">): string {
  if (!hasColours(context)) return text;
  return text.replace(/\b(?:holds|kept|no alarm|broken|refused|(?<!an )alarm)\b/g, (verdict) =>
    styleText(/holds|kept|no/.test(verdict) ? "green" : "red", verdict, { validateStream: false }),
  );
}

/** Returns whether output has colours: as FORCE_COLOR or NO_COLOR says, else on a terminal. */
function hasColours({ stdout, env }: Pick<CliContext, "stdout" | "env">): boolean {
  const { FORCE_COLOR: force, NO_COLOR: no } = env;
  if (force !== undefined) return force !== "0" && force !== "false";
  return stdout.isTTY === true && no === undefined;
}

/** Returns the variables without surrounding space and quotes; a blank variable counts as unset. */
export function trimEnvironment(env: Environment): Environment {
  const entries = Object.entries(env).map(([name, value]) => [name, trim(value ?? "")]);
  return Object.fromEntries(entries);
}

/** Docker passes the quotes of a line NAME="value" of its `--env-file` on, which shells and `.env` do not mean. */
function trim(value: string): string | undefined {
  const text = value.trim();
  const [, , quotedText = text] = /^(["'])([^"']*)\1$/.exec(text) ?? [];
  return quotedText.trim() || undefined;
}
