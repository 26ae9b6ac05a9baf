import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Transport } from "evaluator-client";
import { type Clock, runToExitCode, trimEnvironment } from "evaluator-kit";
import { createTestContext, temporaryFolder } from "evaluator-kit/testing";
import type { RecordSource } from "../input/record-source.ts";
import { openRuns, type ProgramContext } from "../service.ts";
import { recordingTransport } from "./samples.ts";

/** How a command ended and what it printed. */
export interface CommandOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The parts of a context that a test sets; the transport answers. */
export type StartContext = Partial<ProgramContext> & { readonly transport?: Transport };

/** Runs a command in this process. */
export type Start = (words: readonly string[], given: StartContext) => Promise<CommandOutcome>;

interface StartedProgram {
  readonly name: string;
  readonly source: RecordSource;
  readonly run: (words: readonly string[], context: ProgramContext) => Promise<number>;
}

/** Returns a function that runs a program's commands in this process, by default without a network. */
export function createStart({ name, source, run }: StartedProgram): Start {
  return async (argv, { transport = recordingTransport(), ...given }) => {
    const env = trimEnvironment(given.env ?? {}); // as every program has it
    const context = createTestContext({ clock: stoppedClock, ...given, env });
    const services = {
      openTransport: async () => transport,
      openCatalog: async () => null,
      openRuns,
      source,
      ...given,
      env,
    };
    const exitCode = await runToExitCode(
      (words, program) => run(words, { ...program, ...services }),
      argv,
      { name: name, context },
    );
    return { exitCode, ...context.printed };
  };
}

/** Makes a folder whose `inbox.json` holds the input, for the length of the test. */
export async function folderWith(input: unknown): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "inbox.json"), JSON.stringify(input));
  return folder;
}

/** A clock that stands still: nothing scheduled on it ever comes. */
export const stoppedClock: Clock = {
  now: () => 0,
  epochNow: () => Date.parse("2026-11-21T12:00:00Z"),
  schedule: () => () => {},
};
