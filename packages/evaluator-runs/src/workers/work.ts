import { CliError, printable } from "evaluator-kit";
import { EvaluatorError, type Pacer, type Questions } from "evaluator-client";
import type { PostgresRuns, RunInfo } from "../postgres/index.ts";
import type { AskingOptions, WorkCommand } from "../options/run-options.ts";
import { printCount, printDuration, printUsd } from "../amounts.ts";
import { setupHash } from "../journal/kept-answer.ts";
import { findPrice, type Price, RunTotals } from "../run/cost.ts";
import { limitsOf } from "../run/estimate.ts";
import { interrupted, pause, startDrain } from "../run/interruption.ts";
import { showProgress } from "../run/progress.ts";
import type { RunContext } from "../run/run-context.ts";
import {
  checkSameEngine,
  describeEngine,
  hasDocumentedPrice,
  type Service,
  serviceOf,
  type ProgramContext,
} from "../service.ts";
import { openPacer, withRuns } from "./open-runs.ts";
import { serviceOfRun } from "./run-records.ts";
import { workOnRun } from "./work-run.ts";

const WAIT_MS = 1000; // chosen, not measured: a new run, or a database that is back, within a second

/** What working on a run needs. */
export interface WorkSetting {
  readonly url: string;
  readonly runs: PostgresRuns;
  readonly context: Pick<
    RunContext,
    "clock" | "stderr" | "signal" | "env" | "transport" | "service"
  >;
  readonly price: Price;
  readonly asking: AskingOptions;
}

/** What this machine has done for a run. */
export interface WorkOutcome {
  readonly answered: number;
  readonly elapsedMs: number;
}

/**
 * Works on a run beside everyone else who does, until all of it is answered or it is stopped.
 *
 * @throws CliError when the run asks something else than this program would, or of somebody else.
 */
export async function workWithOthers(info: RunInfo, setting: WorkSetting): Promise<WorkOutcome> {
  const { runs, context, price, asking, url } = setting;
  const { clock, stderr, signal, transport, service, env } = context;
  const questions = checkedQuestions(info, service);
  const totals = new RunTotals(price);
  const drain = startDrain(signal, context);
  const startedAt = clock.now();
  const limits = limitsOf(asking, transport);
  const hasLimits = (limits.requestsPerMinute ?? limits.tokensPerSecond) !== undefined;
  const total = info.records - info.answered;
  const hideProgress = showProgress(stderr, { clock, total, totals });
  let pacer: (Pacer & AsyncDisposable) | null = null;
  try {
    pacer = hasLimits ? await openPacer({ url, limits, service, env, stderr }) : null;
    const { concurrency } = asking;
    const shared = { runs, info, questions, transport, price, concurrency, pacer, totals, context };
    await workOnRun({ ...shared, signal: drain.signal });
  } finally {
    hideProgress();
    drain.release();
    await pacer?.[Symbol.asyncDispose]();
  }
  return { answered: totals.succeeded, elapsedMs: clock.now() - startedAt };
}

// Another version of this program may hash or send something else.
function checkedQuestions(info: RunInfo, service: Service): Questions {
  const { run, setup } = info;
  const advice = "set the same engine as where it was begun.";
  checkSameEngine({ run: `Run ${run}`, service: serviceOfRun(info), advice }, service);
  const questions = JSON.parse(setup.questions) as Questions;
  if (setupHash({ questions, service }) === setup.hash) return questions;
  throw new CliError(
    `Run ${run} was begun by another version of this program, with other questions; use the same version on all machines.`,
  );
}

/** Returns in one line what a run has come to, for all of its machines. */
export function describeRun(info: RunInfo, { answered, elapsedMs }: WorkOutcome): string {
  const { asked, failed, inputTokens, costUsd } = info;
  const notes = [
    asked === answered ? "" : `, ${printCount(answered)} of them here`,
    failed === 0 ? "" : `, ${printCount(failed)} failed`,
    info.answered === asked ? "" : `, ${printCount(info.answered - asked)} answered already`,
  ].join("");
  return (
    `Run ${info.run} answered: ${printCount(asked)}${notes}; ${printCount(inputTokens)} tokens, ` +
    `${printUsd(costUsd)}, ${printDuration(elapsedMs)} here.\n`
  );
}

/**
 * Works on one run, or on one open run after the other; returns the exit code. A worker that waits
 * also waits for a database that is away.
 *
 * @throws CliError when it is interrupted, the run is stopped, or the database cannot be used.
 */
export async function workOnRuns(
  command: WorkCommand,
  url: string,
  program: ProgramContext,
): Promise<number> {
  const { stderr, signal, env, clock } = program;
  const transport = await program.openTransport({ ...command, env });
  const service = serviceOf(transport);
  stderr.write(describeEngine(service));
  const context = { ...program, transport, service };
  const catalog = await program.openCatalog({ ...command, env });
  const isDocumented = hasDocumentedPrice(transport);
  const { modelId } = service;
  const price = await findPrice({
    given: command.price ?? null,
    catalog,
    isDocumented,
    modelId,
    signal,
  });
  const setting = { url, context, price, asking: command };
  let isTold = false;
  for (;;) {
    try {
      return await withRuns({ url, open: program.openRuns, supervises: true }, async (runs) => {
        isTold = false;
        return await workOnEach(command, { ...setting, runs });
      });
    } catch (error) {
      const cause = error instanceof Error ? error.cause : null;
      const isAway = cause instanceof EvaluatorError && cause.isRetryable;
      if (!command.wait || !isAway) throw error;
      if (!isTold) stderr.write(`Waiting: ${cause.message}\n`);
      isTold = true;
      await pause(WAIT_MS, { clock, signal });
      if (signal.aborted) throw interrupted("Interrupted; every answer is kept.", signal);
    }
  }
}

async function workOnEach(command: WorkCommand, setting: WorkSetting): Promise<number> {
  const { runs, context } = setting;
  const { stderr, signal, service } = context;
  for (let worked = 0; ; worked += 1) {
    const info =
      command.run === undefined ? await nextRun(runs, service) : await runs.get(command.run);
    if (info === null) {
      if (signal.aborted) throw interrupted("Interrupted; every answer is kept.", signal);
      if (command.wait) {
        await pause(WAIT_MS, context);
        continue;
      }
      if (worked === 0) stderr.write("No run is open.\n");
      return 0;
    }
    checkOpen(info);
    const outcome = await workWithOthers(info, setting);
    const last = await runs.get(info.run);
    stderr.write(describeRun(last, outcome));
    if (signal.aborted) throw interrupted("Interrupted; every answer is kept.", signal);
    if (last.state === "stopped" && !command.wait) checkOpen(last);
    if (command.run !== undefined) return last.failed > 0 ? 2 : 0;
  }
}

/** Returns the oldest open run of the engine, else one of another engine, or null. */
async function nextRun(runs: PostgresRuns, { address, modelId }: Service): Promise<RunInfo | null> {
  const open = (await runs.list()).filter(({ state }) => state === "open");
  const own = open.find(({ setup }) => setup.wire === address && setup.modelId === modelId);
  return own ?? open[0] ?? null;
}

function checkOpen({ run, state, stoppedBy }: RunInfo): void {
  if (state !== "stopped") return;
  const why = printable`${stoppedBy ?? "it was ended"}`;
  throw new CliError(
    `Run ${run} was stopped: ${why}\nThe command that began it, given again, opens it.`,
  );
}
