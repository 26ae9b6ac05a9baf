import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { compileCache } from "evaluator-kit/testing";
import type { Emulator } from "evaluator-emulator";
import { z } from "zod";

/** A program in its own process. */
export interface StartedProgram {
  readonly child: ChildProcess;
  /** Resolves at its end: the exit code, or null when it was killed, and what it said. */
  readonly ended: Promise<{ exitCode: number | null; stderr: string }>;
}

interface ProcessOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** No file may grow beyond this, as on a disk that is full. @default no bound */
  readonly mostKilobytes?: number | undefined;
}

/** Starts a program, by the path of its file, in its own process. */
export function startProgram(
  main: string,
  words: readonly string[],
  { cwd, env, mostKilobytes }: ProcessOptions,
): StartedProgram {
  const node = [process.execPath, main, ...words];
  const [command = "", ...rest] =
    mostKilobytes === undefined
      ? node
      : ["/bin/bash", "-c", `ulimit -f ${mostKilobytes}; exec "$0" "$@"`, ...node];
  const child = spawn(command, rest, {
    cwd,
    env: { ...env, ...compileCache },
    stdio: ["ignore", "ignore", "pipe"],
  });
  return { child, ended: watchEnd(child) };
}

/** Waits for the end of a program; returns its exit code, or null if it was killed, and its messages. */
export async function watchEnd(child: ChildProcess) {
  let stderr = "";
  child.stderr?.on("data", (text) => {
    stderr += String(text);
  });
  await once(child, "close");
  return { exitCode: child.exitCode, stderr };
}

const requestsSchema = z.object({
  requests: z.array(
    z.object({
      number: z.int(),
      path: z.string(),
      status: z.int().nullable(),
      ending: z.string().nullable(),
    }),
  ),
});

/** Counts the calls that an emulator has answered in full; what it has cut off costs nothing. */
export class AnsweredCalls {
  readonly #emulator: Emulator;
  // By number, since a call that is under way now may end before the next count.
  readonly #answered = new Set<number>();
  #before = 0;

  constructor(emulator: Emulator) {
    this.#emulator = emulator;
  }

  /** How many there were at the last count. */
  get total(): number {
    return this.#answered.size - this.#before;
  }

  /** Counts from here on: what was answered before is not counted again. */
  forget(): void {
    this.#before = this.#answered.size;
  }

  /** Adds what was answered since the last time. */
  async count(): Promise<void> {
    const response = await this.#emulator.fetch("/_emulator/requests");
    const { requests } = requestsSchema.parse(await response.json());
    for (const { number, path, status, ending } of requests) {
      if (path.startsWith("/v4/") && status === 200 && ending === "whole") {
        this.#answered.add(number);
      }
    }
  }
}
