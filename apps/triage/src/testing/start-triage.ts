import type { Transport } from "evaluator-client";
import { runTriage } from "../run-triage.ts";
import type { Surroundings } from "../surroundings.ts";
import { stoppedClock } from "./stopped-clock.ts";
import { recordingTransport } from "./recording-transport.ts";

/** How a run ended and what it printed. */
export interface TriageOutcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs the command in this process, answered by a transport unless told otherwise. */
export async function startTriage(
  argv: readonly string[],
  { transport = recordingTransport(), ...given }: Partial<Surroundings> & { transport?: Transport },
): Promise<TriageOutcome> {
  const printed = { stdout: "", stderr: "" };
  const exitCode = await runTriage(argv, {
    env: {},
    cwd: "/",
    stdout: { write: (text) => (printed.stdout += text) },
    stderr: { write: (text) => (printed.stderr += text) },
    signal: new AbortController().signal,
    clock: stoppedClock,
    confirm: null,
    openTransport: async () => transport,
    openCatalog: () => null,
    ...given,
  });
  return { exitCode, ...printed };
}
