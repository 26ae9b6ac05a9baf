import { runToExitCode } from "evaluator-cli-kit";
import { createTestContext } from "evaluator-cli-kit/testing";
import type { Transport } from "evaluator-client";
import type { TriageContext } from "../service.ts";
import { runTriage } from "../triage.ts";
import { usage } from "../usage.ts";
import { recordingTransport } from "./recording-transport.ts";
import { stoppedClock } from "./stopped-clock.ts";

/** How a run ended and what it printed. */
export interface TriageOutcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs the command in this process, answered by a transport unless told otherwise. */
export async function startTriage(
  argv: readonly string[],
  {
    transport = recordingTransport(),
    ...given
  }: Partial<TriageContext> & { transport?: Transport },
): Promise<TriageOutcome> {
  const context = createTestContext({ clock: stoppedClock, ...given });
  const ways = { openTransport: async () => transport, openCatalog: () => null, ...given };
  const exitCode = await runToExitCode(
    (words, program) => runTriage(words, { ...program, ...ways }),
    argv,
    { name: "The triage", usage, context },
  );
  return { exitCode, ...context.printed };
}
