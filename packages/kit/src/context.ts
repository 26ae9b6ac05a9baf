import { createInterface } from "node:readline/promises";
import { type Clock, systemClock } from "./clock.ts";

/** Environment variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Somewhere text can be written to. */
export interface TextSink {
  /** Returns false where it is a stream that has enough until its `drain`. */
  write(text: string): unknown;
  /** Whether it is a terminal. */
  readonly isTTY?: boolean;
  /** The width of the terminal; undefined when it is none. */
  readonly columns?: number;
}

/** What a program takes from the machine it runs on. */
export interface CliContext {
  /** Without the space around each variable; a blank one counts as unset. */
  readonly env: Environment;
  /** The folder that typed paths are relative to. */
  readonly cwd: string;
  /** What is piped into the program. */
  readonly stdin: AsyncIterable<string | Uint8Array>;
  /** Where results go. */
  readonly stdout: TextSink;
  /** Where everything said about the run goes. */
  readonly stderr: TextSink;
  /** Aborts with an `InterruptedError` at the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The exit code if the program ends without an error, as `process.exitCode`. */
  exitCode: number;
  /** Asks the person a yes/no question; null when nobody is there to answer. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}

/** Returns what a program takes from its process. */
export function readContext(program: NodeJS.Process, interruption: AbortController): CliContext {
  const { stdin, stdout, stderr } = program;
  const env = trimEnvironment(program.env);
  const { signal } = interruption;
  return {
    env,
    // npm runs scripts in the repository's folder and says here where the person stands.
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

/** Returns the variables without the space around them; a blank one counts as unset. */
export function trimEnvironment(env: Environment): Environment {
  const entries = Object.entries(env).map(([name, value]) => [name, value?.trim() || undefined]);
  return Object.fromEntries(entries);
}

async function ask(
  question: string,
  program: NodeJS.Process,
  signal: AbortSignal,
): Promise<boolean> {
  const terminal = createInterface({ input: program.stdin, output: program.stderr });
  // Readline takes Ctrl-C for itself; it is to end the run, not the question.
  terminal.once("SIGINT", () => program.kill(program.pid, "SIGINT"));
  const answer = await terminal.question(question, { signal }).catch(() => "no");
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
