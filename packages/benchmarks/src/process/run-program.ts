import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

/** A program of this repository, started as its npm script starts it. */
export interface ProgramOptions {
  readonly args: readonly string[];
  /** The whole environment: nothing of this process's own gets in. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further flags for Node. */
  readonly execArgv?: readonly string[];
  /** The repository's root. */
  readonly cwd: string;
}

/** Starts a program, with a channel for messages beside its output. */
export function startProgram(path: string, options: ProgramOptions): ChildProcess {
  const { args, env = {}, execArgv = [], cwd } = options;
  const words = ["--import", "tsx", ...execArgv, path, ...args];
  return spawn(process.execPath, words, { cwd, env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
}

/**
 * Runs a program to its end, and gives the milliseconds it took.
 *
 * @throws Error with what it printed, unless it ended well.
 */
export async function timeProgram(path: string, options: ProgramOptions): Promise<number> {
  const startedAt = performance.now();
  const child = startProgram(path, options);
  const printed = [child.stdout, child.stderr].map((stream) =>
    stream ? text(stream) : Promise.resolve(""),
  );
  await once(child, "exit");
  const wallMs = performance.now() - startedAt;
  const words = await Promise.all(printed);
  if (child.exitCode === 0) return wallMs;
  throw new Error(`${path} ${options.args.join(" ")} ended badly.\n${words.join("").slice(-2000)}`);
}
