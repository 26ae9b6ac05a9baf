import { existsSync } from "node:fs";
import type { TriageRun } from "./arguments/run-arguments.ts";
import { askMissing } from "./asking/ask-missing.ts";
import { type PlannedCall, planCalls } from "./asking/plan-calls.ts";
import { giveResults } from "./give-results.ts";
import { type Job, readJob, requestFor } from "./job.ts";
import { Journal } from "./journal/journal.ts";
import { checkCost } from "./money/check-cost.ts";
import { describeEstimate, estimateRun, type RunEstimate } from "./money/estimate-run.ts";
import { findPrice } from "./money/find-price.ts";
import { checkOutput } from "./output/check-output.ts";
import type { Surroundings } from "./surroundings.ts";

const offlineNotice =
  "Offline: the emulator on this machine answers, from recordings or by matching words, not a model.\n";

/**
 * Triages one file: checks everything, asks what the journal has no answer to, writes the results,
 * prints the table; gives the exit code, 0 or 2.
 *
 * @throws TriageError when it cannot go on or is interrupted; no results are written then.
 */
export async function triageFile(run: TriageRun, surroundings: Surroundings): Promise<number> {
  const { stdout, stderr, confirm, signal } = surroundings;
  const job = await readJob(run, surroundings);
  if (run.dryRun) {
    stdout.write(await dryRun(job, signal));
    return 0;
  }
  await checkOutput(job.outputPath, job.inputPath);
  await using journal = await Journal.open(job.journalPath, job);
  const calls = await planFor(job, journal);
  await journal.place(calls.map(({ mail, key }) => ({ id: mail.id, key })));
  if (run.offline) stderr.write(offlineNotice);
  const missing = calls.filter(isMissing);
  const estimate = await estimateFor(missing, job, signal);
  stderr.write(describeEstimate(estimate, calls.length - missing.length));
  await checkCost(estimate, { ...run, confirm, signal });
  const { price } = estimate;
  const outcome = await askMissing(missing, { job, journal, price, surroundings });
  return await giveResults(calls, { job, journal, outcome, surroundings });
}

async function dryRun(job: Job, signal: AbortSignal): Promise<string> {
  // Nothing is made for a look.
  const isThere = existsSync(job.journalPath);
  await using journal = isThere ? await Journal.open(job.journalPath, job) : null;
  const calls = await planFor(job, journal);
  const missing = calls.filter(isMissing);
  return describeEstimate(await estimateFor(missing, job, signal), calls.length - missing.length);
}

async function planFor(job: Job, journal: Journal | null): Promise<PlannedCall[]> {
  const statusesOf = async (keys: readonly string[]) => (await journal?.statusesOf(keys)) ?? [];
  return await planCalls(job.mails, { ...job, statusesOf });
}

function isMissing({ status }: PlannedCall): boolean {
  return status !== "answered";
}

async function estimateFor(
  missing: readonly PlannedCall[],
  job: Job,
  signal: AbortSignal,
): Promise<RunEstimate> {
  const { run, transport, service } = job;
  const catalog = missing.length === 0 ? null : job.catalog;
  const price = await findPrice({ catalog, modelId: service.modelId, signal });
  const { concurrency } = run;
  return estimateRun(requestsFor(job, missing), {
    concurrency,
    price,
    limits: transport.limits ?? {},
  });
}

function* requestsFor(job: Job, calls: readonly PlannedCall[]) {
  for (const { mail } of calls) yield requestFor(job, mail);
}
