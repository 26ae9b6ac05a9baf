import { join } from "node:path";
import { repository } from "../client-build/build-client.ts";
import { timeProgram } from "../process/run-program.ts";
import type { ServerCounts } from "../server/main.ts";
import type { BenchmarkServer } from "../server/start-server.ts";
import { verifyResults } from "./inbox.ts";

/** One run of the triage over an input file. */
export interface TriageRun {
  readonly folder: string;
  /** How many mails the input has. */
  readonly mails: number;
  readonly concurrency: number;
}

/** What a run took. */
export interface TriageFigures extends ServerCounts {
  /** The whole command, start and table included. */
  readonly wallMs: number;
}

/** The input file in a run's folder. */
export const inboxName = "inbox.json";

/**
 * Runs the triage as a person does, and verifies that every mail's results are on disk.
 *
 * @throws Error when it ends badly or leaves a mail out.
 */
export async function runTriage(run: TriageRun, server: BenchmarkServer): Promise<TriageFigures> {
  const { folder, mails, concurrency } = run;
  await server.takeCounts();
  const words = [join(folder, inboxName), "--concurrency", String(concurrency), "--yes"];
  const wallMs = await timeProgram("apps/triage/src/main.ts", {
    args: [...words, "--top", "1"],
    cwd: repository,
    env: { AI_GATEWAY_API_KEY: "benchmark-key", EVALUATOR_BASE_URL: server.addresses.gateway },
  });
  await verifyResults(join(folder, inboxName.replace(".json", ".triage.json")), mails);
  return { wallMs, ...(await server.takeCounts()) };
}

/**
 * Runs the triage again over what is answered already.
 *
 * @throws Error when it asks for anything: then the journal did not hold every answer.
 */
export async function resumeTriage(
  run: TriageRun,
  server: BenchmarkServer,
): Promise<TriageFigures> {
  const figures = await runTriage(run, server);
  if (figures.requests === 0) return figures;
  throw new Error(`The triage asked ${figures.requests} times for answers that its journal holds.`);
}
