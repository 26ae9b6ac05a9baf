import { hash, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import process from "node:process";
import { CliError, pause, printable } from "evaluator-kit";
import { EvaluatorError, type Questions, type RateLimits } from "evaluator-client";
import type { RunInfo, RunStore } from "../postgres/index.ts";
import type { AskingOptions, WorkCommand } from "../options.ts";
import { describeCost, printCount, printDuration } from "../amounts.ts";
import { evaluatorRuntime } from "../machine.ts";
import { setupHash } from "../journal/kept-answer.ts";
import { findPrice, type Price } from "../money/cost.ts";
import { RunTotals } from "../money/totals.ts";
import { concurrencyOf, limitsOf } from "../limits.ts";
import { interrupted, repeat, startDrain } from "../run/interruption.ts";
import { showProgress } from "../run/progress.ts";
import type { RunContext } from "../run/run-context.ts";
import {
  checkSameEngine,
  describeEngine,
  type ProgramContext,
  type Service,
  serviceOf,
} from "../service.ts";
import { serviceOfRun, withRuns } from "./open-runs.ts";
import { checkPriced } from "./chunk-calls.ts";
import { RunWorker } from "./work-run.ts";

const WAIT_MS = 1000; // chosen, not measured: a new run, or a database that is back, within a second

interface WorkSetting {
  readonly url: string;
  readonly runs: RunStore;
  readonly context: Omit<ProgramContext, "openTransport" | "openCatalog" | "mayCost"> &
    Pick<RunContext, "transport" | "service">;
  readonly price: Price;
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
  const { context, price, asking, url } = setting;
  const { clock, transport } = context;
  const questions = checkedQuestions(info, context.service);
  checkPriced(info, price);
  const limits = limitsOf(asking, transport);
  const hasLimits = (limits.requestsPerMinute ?? limits.tokensPerSecond) !== undefined;
  const shared = hasLimits ? await openPacer(url, limits, context) : null;
  const pacer = shared?.pacer ?? null;
  const totals = new RunTotals(price);
  const drain = startDrain(context.signal, context);
  const startedAt = clock.now();
  const hideProgress = showProgress(info.records - info.answered, totals, context);
  try {
    const { signal } = drain;
    const worker = new RunWorker({ ...setting, info, questions, pacer, totals, signal });
    const endReports = startReports(worker, setting, { run: info.run, totals });
    await worker.work().finally(endReports);
  } finally {
    hideProgress();
    drain.release();
    await shared?.pacer[Symbol.asyncDispose]();
    await shared?.store[Symbol.asyncDispose]();
  }
  return { answered: totals.succeeded, elapsedMs: clock.now() - startedAt };
}

// Both chosen, not measured: `status` shows news each second, and a rate that does not jump.
const REPORT_MS = 1000;
const RATE_OVER_MS = 20_000;

/** Reports each second that a worker is there, until the result is called; which follows its run. */
function startReports(
  worker: RunWorker,
  { runs, context: { clock, newId = randomUUID } }: WorkSetting,
  { run, totals }: { readonly run: number; readonly totals: RunTotals },
): () => Promise<void> {
  const [id, name] = [newId(), `${hostname()}:${process.pid}`];
  const counts: { readonly atMs: number; readonly answered: number }[] = [];
  const report = () => {
    const { succeeded: answered, failed } = totals;
    const atMs = clock.now();
    counts.push({ atMs, answered });
    while ((counts[0]?.atMs ?? atMs) < atMs - RATE_OVER_MS) counts.shift();
    const first = counts[0] ?? { atMs, answered };
    const seconds = (atMs - first.atMs) / 1000;
    const perSecond = seconds > 0 ? (answered - first.answered) / seconds : 0;
    const { inFlight } = worker;
    runs.report({ worker: id, run, name, answered, failed, perSecond, inFlight }).then(
      (reported) => worker.follow(reported),
      () => {}, // the answers that wait for the database report the trouble
    );
  };
  report();
  const endReports = repeat(REPORT_MS, report, clock);
  return async () => {
    endReports();
    await runs.leave(id).catch(() => {});
  };
}

// Another version of this program may compute other hashes or send other requests.
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

/** Opens a pacer that shares the key's limit with every worker of the database. */
async function openPacer(url: string, limits: RateLimits, context: WorkSetting["context"]) {
  const { service, env, stderr } = context;
  const { keyFromEnvironment, sharedPacer } = await import("evaluator-client");
  const open = context.openLimits ?? (await import("../postgres/index.ts")).postgresLimits;
  const store = await open(url);
  // A hash of the key and the address; the database sees a hash of this hash.
  const key = hash("sha256", JSON.stringify([keyFromEnvironment(env) ?? "", service.address]));
  const onStoreChange = (isDown: boolean) =>
    stderr.write(
      isDown
        ? "The shared limit cannot be reached; going on with this machine's part of it.\n"
        : "The shared limit is reached again.\n",
    );
  return {
    store,
    pacer: sharedPacer({ store, key, limits, onStoreChange }, evaluatorRuntime(context)),
  };
}

/** Returns in one line the counts and cost of a run, for all of its machines. */
export function describeRun(
  info: RunInfo,
  { answered, elapsedMs }: Awaited<ReturnType<typeof workWithOthers>>,
): string {
  const { asked, failed, inputTokens } = info;
  const notes = [
    asked === answered ? "" : `, ${printCount(answered)} of them here`,
    failed === 0 ? "" : `, ${printCount(failed)} failed`,
    info.answered === asked ? "" : `, ${printCount(info.answered - asked)} answered already`,
  ].join("");
  return (
    `Run ${info.run} answered: ${printCount(asked)}${notes}; ${printCount(inputTokens)} tokens, ` +
    `${describeCost(info)}, ${printDuration(elapsedMs)} here.\n`
  );
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
  const service = serviceOf(transport);
  stderr.write(describeEngine(service));
  const catalog = await program.openCatalog({ ...command, env });
  const price = await findPrice({ given: command.price, catalog, transport, signal });
  const asking = { ...command, concurrency: concurrencyOf(command, transport) };
  const setting = { url, context: { ...program, transport, service }, price, asking };
  let isReported = false;
  const use = async (runs: RunStore) => {
    isReported = false;
    return await workOnEach(command, { ...setting, runs });
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

async function workOnEach(command: WorkCommand, setting: WorkSetting): Promise<number> {
  const { runs, context } = setting;
  const { stderr, signal, service } = context;
  for (let worked = 0; ; worked += 1) {
    const info =
      command.run === undefined ? await nextRun(runs, service) : await runs.get(command.run);
    if (info === null) {
      checkNotInterrupted(signal);
      if (!command.wait && worked === 0) stderr.write("No run is open.\n");
      if (!command.wait) return 0;
      await pause(WAIT_MS, context);
      continue;
    }
    checkOpen(info);
    const outcome = await workWithOthers(info, setting);
    const last = await runs.get(info.run);
    stderr.write(describeRun(last, outcome));
    checkNotInterrupted(signal);
    if (!command.wait) checkOpen(last);
    if (command.run !== undefined) return last.failed > 0 ? 2 : 0;
  }
}

function checkNotInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw interrupted("Interrupted; every answer is kept.", signal);
}

/** Returns the oldest open run of the engine, else one of another engine, or null. */
async function nextRun(runs: RunStore, { address, modelId }: Service): Promise<RunInfo | null> {
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
