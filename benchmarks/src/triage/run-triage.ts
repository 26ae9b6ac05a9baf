import { execFile } from "node:child_process";
import { readFile, writeFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { programs, repository } from "../client-build.ts";
import { mailState } from "../sample-requests.ts";
import type { ServerCounts } from "../server/main.ts";
import type { BenchmarkServer } from "../server/start-server.ts";

/** One run of the triage over an input file. */
export interface TriageRun {
  readonly folder: string;
  /** How many mails the input has. */
  readonly mails: number;
  readonly concurrency: number;
}

/** The cost of a run. */
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
  const program = [programs.triage, ...words, "--top", "1"];
  const { gateway } = server.addresses;
  const env = { AI_GATEWAY_API_KEY: "benchmark-key", EVALUATOR_BASE_URL: gateway };
  const startedAt = performance.now();
  await promisify(execFile)(process.execPath, program, { cwd: repository, env });
  const wallMs = performance.now() - startedAt;
  await verifyResults(join(folder, inboxName.replace(".json", ".triage.json")), mails);
  return { wallMs, ...(await server.takeCounts()) };
}

/**
 * Runs the triage again over answered mails.
 *
 * @throws Error if it asks anything, because then the journal lacks an answer.
 */
export async function resumeTriage(
  run: TriageRun,
  server: BenchmarkServer,
): Promise<TriageFigures> {
  const figures = await runTriage(run, server);
  if (figures.requests === 0) return figures;
  throw new Error(`The triage asked ${figures.requests} times for answers that its journal holds.`);
}

/** Writes an input file of that many mails. */
export async function writeInbox(path: string, mails: number): Promise<void> {
  const records = Array.from({ length: mails }, (_, index) => ({
    id: `mail-${index}`,
    ...mailState(index),
  }));
  await writeFile(path, JSON.stringify(records));
}

/**
 * Makes sure that the results of every mail are on disk.
 *
 * @throws Error when a record is missing or holds another answer than the server gave.
 */
export async function verifyResults(path: string, mails: number): Promise<void> {
  const records = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>[];
  const whole = records.filter(isWhole).length;
  if (whole === mails && records.length === mails) return;
  throw new Error(`${path} holds ${whole} whole records of ${records.length}, not ${mails}.`);
}

function isWhole({ id, category, scam }: Record<string, unknown>, index: number): boolean {
  return id === `mail-${index}` && category === "security_alert" && scam === 0.31;
}

/** Makes a temporary folder that is removed after use. */
export async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), "evaluator-benchmark-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
