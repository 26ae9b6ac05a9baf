import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import process from "node:process";
import { CliError, pause, printable } from "evaluator-kit";
import { EvaluatorError, type Questions } from "evaluator-client";
import type { RunStore } from "../store/run-store.ts";
import type { RunInfo } from "../store/stored-runs.ts";
import type { AskingOptions, WorkCommand } from "../options.ts";
import { describeCost } from "../amounts.ts";
import { setupHash } from "../journal/kept-answer.ts";
import type { RunPrice } from "../money/price.ts";
import { RunTotals, stepFacts } from "../money/totals.ts";
import { computeConcurrency } from "../limits.ts";
import { type AskedEngines, engineNames } from "../run/ask-engines.ts";
import { describeRun } from "../run/describe-run.ts";
import { interrupted, repeat } from "../run/interruption.ts";
import type { RunContext } from "../run/run-context.ts";
import { watchWork } from "../run/watch-work.ts";
import {
  checkSameEngine,
  describeEngine,
  type ProgramContext,
  type Service,
  toService,
} from "../service.ts";
import { serviceOfRun, withRuns } from "./open-runs.ts";
import { openPacers } from "./shared-pacers.ts";
import { checkPriced, DatabaseWorker } from "./database-worker.ts";
import { enginesFor, nextRun, priceFinder, type WorkMachine } from "./worker-engines.ts";
import { parseKeptQuestions } from "../journal/kept-questions.ts";

const WAIT_MS = 1000; // chosen, not measured: a new run, or a database that is back, within a second

interface WorkSetting {
  readonly url: string;
  readonly runs: RunStore;
  readonly context: Omit<ProgramContext, "openTransport" | "openCatalog" | "mayCost"> &
    AskedEngines &
    Pick<RunContext, "service">;
  readonly price: RunPrice;
  readonly asking: AskingOptions & { readonly concurrency: number };
}

/**
 * Works on a run beside all other workers, until all of it is answered or it is stopped; returns what
 * this machine did.
 *
 * @throws CliError if the run asks other questions, or another engine, than this program would, or has a maximum
 * cost and no price is known.
 */
export async function workWithOthers(info: RunInfo, setting: WorkSetting) {
  const { context, price } = setting;
  const questions = checkedQuestions(info, context.service);
  checkPriced(info, price);
  await using sharedPacers = await openPacers(setting);
  const pacers = sharedPacers?.pacers ?? ([null, null] as const);
  const totals = new RunTotals(price);
  const counts = { open: info.records - info.answered, totals };
  const { elapsedMs } = await watchWork(counts, context, async (signal) => {
    const worker = new DatabaseWorker({ ...setting, info, questions, pacers, totals, signal });
    const endReports = startReports(worker, setting, { run: info.run, totals });
    await worker.work().finally(endReports);
  });
  const steps = stepFacts(totals, engineNames(context));
  return { answered: totals.succeeded, elapsedMs, steps };
}

// Both chosen, not measured: `status` shows news each second, and a rate that does not jump.
const REPORT_MS = 1000;
const RATE_OVER_MS = 20_000;

/** Reports each second that a worker is there, until the result is called; which follows its run. */
function startReports(
  worker: DatabaseWorker,
  { runs, context: { clock, newId = randomUUID } }: WorkSetting,
  { run, totals }: { readonly run: number; readonly totals: RunTotals },
): () => Promise<void> {
  const [id, name] = [newId(), `${hostname()}:${process.pid}`];
  const counts: { readonly atMs: number; readonly answered: number }[] = [];
  let reportsPromise: Promise<unknown> = Promise.resolve();
  const report = () => {
    const { succeeded: answeredCount, failed: failedCount } = totals;
    const atMs = clock.now();
    counts.push({ atMs, answered: answeredCount });
    while ((counts[0]?.atMs ?? atMs) < atMs - RATE_OVER_MS) counts.shift();
    const first = counts[0] ?? { atMs, answered: answeredCount };
    const seconds = (atMs - first.atMs) / 1000;
    const perSecond = seconds > 0 ? (answeredCount - first.answered) / seconds : 0;
    const { inFlight } = worker;
    const counted = { answered: answeredCount, failed: failedCount, perSecond, inFlight };
    const reportedPromise = runs.report({ worker: id, run, name, ...counted }).then(
      (reportedRun) => worker.follow(reportedRun),
      () => {}, // the answers that wait for the database report the trouble
    );
    reportsPromise = reportsPromise.then(() => reportedPromise);
  };
  report();
  const endReports = repeat(REPORT_MS, report, clock);
  return async () => {
    endReports();
    await reportsPromise; // a report that came after it would have the worker there for ten seconds
    await runs.leave(id).catch(() => {});
  };
}

// Another version of this program may compute other hashes or send other requests.
function checkedQuestions(info: RunInfo, service: Service): Questions {
  const { run, setup } = info;
  const advice = "set its engine here.";
  checkSameEngine({ run: `Run ${run}`, service: serviceOfRun(info), advice }, service);
  const questions = parseKeptQuestions(setup.questions);
  if (setupHash({ questions, service }) === setup.hash) return questions;
  throw new CliError(
    `Run ${run} is of another version of this program; use one version on all machines.`,
  );
}

/** Returns the counts and cost of a run, for all of its machines, and what each of two engines did here. */
export function describeSharedRun(
  info: RunInfo,
  { answered: answeredHere, ...here }: Awaited<ReturnType<typeof workWithOthers>>,
): string {
  return describeRun({
    ...here,
    subject: `Run ${info.run} answered`,
    answered: info.asked,
    answeredHere,
    counts: [
      [info.failed, "failed"],
      [info.answered - info.asked, "answered already"],
    ],
    inputTokens: info.inputTokens,
    cost: describeCost(info),
  });
}

/**
 * Works on one run, or on one open run after the other; returns the exit code. A worker that waits
 * also waits for a database that is away.
 *
 * @throws CliError if it is interrupted, the run is stopped, or the database cannot be used.
 */
export async function workOnRuns(
  command: WorkCommand,
  url: string,
  program: ProgramContext,
): Promise<number> {
  const { stderr, signal, env, clock } = program;
  const transport = await program.openTransport({ ...command, env });
  if (command.then === undefined) stderr.write(describeEngine(toService(transport)));
  const machine = { url, transport, program, priceOf: priceFinder(command, transport, program) };
  let isReported = false;
  const use = async (runs: RunStore) => {
    isReported = false;
    return await workOnEach(command, { ...machine, runs });
  };
  for (;;) {
    try {
      return await withRuns(url, { ...program, supervises: true }, use);
    } catch (error) {
      const cause = error instanceof Error ? error.cause : null;
      const isAway = cause instanceof EvaluatorError && cause.isRetryable;
      if (!command.wait || !isAway) throw error;
      if (!isReported) stderr.write(`Waiting: ${cause.message}\n`);
      isReported = true;
      await pause(WAIT_MS, { clock, signal });
      checkNotInterrupted(signal);
    }
  }
}

async function workOnEach(command: WorkCommand, machine: WorkMachine): Promise<number> {
  const { runs, url, program: context, priceOf } = machine;
  const { stderr, signal } = context;
  for (let runCount = 0; ; runCount += 1) {
    const info =
      command.run === undefined ? await nextRun(command, machine) : await runs.get(command.run);
    if (info === null) {
      checkNotInterrupted(signal);
      if (!command.wait && runCount === 0) stderr.write("No run is open.\n");
      if (!command.wait) return 0;
      await pause(WAIT_MS, context);
      continue;
    }
    checkOpen(info);
    const engines = await enginesFor(info, command, machine);
    if (engines.next !== null) stderr.write(describeEngine(engines.service));
    const asking = { ...command, concurrency: computeConcurrency(command, engines.transport) };
    const price = await priceOf(engines.next);
    const setting = { url, runs, price, asking, context: { ...context, ...engines } };
    const outcome = await workWithOthers(info, setting);
    const last = await runs.get(info.run);
    stderr.write(describeSharedRun(last, outcome));
    checkNotInterrupted(signal);
    if (!command.wait) checkOpen(last);
    if (command.run !== undefined) return last.failed > 0 ? 2 : 0;
  }
}

function checkNotInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw interrupted("Interrupted; every answer is kept.", signal);
}

function checkOpen({ run, state, stoppedBy }: RunInfo): void {
  if (state !== "stopped") return;
  const why = printable`${stoppedBy ?? "it was ended"}`;
  throw new CliError(
    `Run ${run} was stopped: ${why}\nRepeat the command that began it to open it.`,
  );
}
