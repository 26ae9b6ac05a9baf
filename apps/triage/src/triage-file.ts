import { existsSync } from "node:fs";
import type { TriageRun } from "./arguments/run-arguments.ts";
import { askMissing } from "./asking/ask-missing.ts";
import { type CallPlan, planCalls } from "./asking/plan-calls.ts";
import { giveResults } from "./give-results.ts";
import { type Job, readJob } from "./job.ts";
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
    stderr.write(job.input.describeLeftOut());
    return 0;
  }
  await checkOutput(job.outputPath, job.inputPath);
  await using journal = await Journal.open(job.journalPath, job);
  const plan = await planCalls(job, { journal, place: true, signal });
  if (run.offline) stderr.write(offlineNotice);
  const estimate = await estimateFor(plan, job, signal);
  stderr.write(job.input.describeLeftOut() + describeEstimate(estimate, plan.count("answered")));
  await checkCost(estimate, { ...run, confirm, signal });
  const { price } = estimate;
  const outcome = await askMissing(plan, { job, journal, price, surroundings });
  return await giveResults(plan, { job, journal, outcome, surroundings });
}

async function dryRun(job: Job, signal: AbortSignal): Promise<string> {
  // Nothing is made for a look.
  const isThere = existsSync(job.journalPath);
  await using journal = isThere ? await Journal.open(job.journalPath, job) : null;
  const plan = await planCalls(job, { journal, place: false, signal });
  return describeEstimate(await estimateFor(plan, job, signal), plan.count("answered"));
}

async function estimateFor(plan: CallPlan, job: Job, signal: AbortSignal): Promise<RunEstimate> {
  const { run, transport, service } = job;
  const mails = plan.length - plan.count("answered");
  const catalog = mails === 0 ? null : job.catalog;
  const price = await findPrice({ catalog, modelId: service.modelId, signal });
  const { concurrency } = run;
  const limits = transport.limits ?? {};
  return estimateRun({ mails, inputTokens: plan.missingTokens }, { concurrency, price, limits });
}
