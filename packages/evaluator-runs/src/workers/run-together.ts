import { createHash } from "node:crypto";
import { basename } from "node:path";
import { printable } from "evaluator-kit";
import type { PostgresRuns, RunInfo, RunRecord } from "../postgres/index.ts";
import { printCount } from "../amounts.ts";
import type { RunCommand } from "../options/run-options.ts";
import type { JournalAddress } from "../journal-address.ts";
import { setupHash } from "../journal/kept-answer.ts";
import { checkOutput } from "../output/check-output.ts";
import { recordNames } from "../columns/columns.ts";
import { toRawLine, type ResultRecord, writeRecords } from "../output/write-records.ts";
import type { CallFailure } from "../run/ask-calls.ts";
import { checkCost, describeEstimate } from "../run/estimate.ts";
import { type CallPlan, planCalls, toNote } from "../run/plan-calls.ts";
import {
  describeFailures,
  describeWritten,
  FAILURES_SHOWN,
  isInTable,
  printLines,
  printTable,
  unfinished,
} from "../run/results.ts";
import { readRunContext, type RunContext } from "../run/run-context.ts";
import { describeDryRun, estimateFor } from "../run/run-file.ts";
import { describeEngine, type ProgramContext } from "../service.ts";
import { type TableRow, toTableRow } from "../columns/table.ts";
import { withRuns } from "./open-runs.ts";
import { answeredRows } from "./run-records.ts";
import { describeRun, workWithOthers } from "./work.ts";

/**
 * Triages one file together with every machine that starts the same command, or that works for it:
 * loads it once, asks what has no answer, waits for the others, writes the results beside the file.
 *
 * @throws CliError when it cannot go on or is interrupted; no results are written then.
 */
export async function runTogether(
  run: RunCommand,
  { url }: Extract<JournalAddress, { kind: "postgres" }>,
  program: ProgramContext,
): Promise<number> {
  const context = await readRunContext(run, program);
  const { stderr, stdout, service } = context;
  stderr.write(describeEngine(service));
  const open = { url, open: program.openRuns, supervises: !run.dryRun };
  return await withRuns(open, async (runs) => {
    if (!run.dryRun) await checkOutput(context.outputPath, context.inputPath);
    // A dry run looks each answer up, also if the run has begun.
    const known = run.dryRun ? [] : await runs.list();
    const planned = await planRun(runs, known, context);
    const { plan, begun } = planned;
    const refusals = begun === null ? plan.count("refused") : (await runs.refused(begun.run)).size;
    const toAsk = begun === null ? plan.open : begun.records - begun.answered - refusals;
    const estimate = await estimateFor(plan, context, toAsk);
    if (run.dryRun) {
      stdout.write(describeDryRun(plan, estimate, context));
      stderr.write(context.input.describeLeftOut());
      return 0;
    }
    const told = describeEstimate(estimate, plan.length - toAsk - refusals, refusals);
    stderr.write(context.input.describeLeftOut() + told);
    await checkCost(estimate, { ...run, ...context });
    const info = await join(runs, context, { ...planned, known });
    const refused = await runs.refused(info.run);
    const outcome = await workWithOthers(info, { url, runs, context, ...estimate, asking: run });
    const last = await runs.get(info.run);
    stderr.write(describeRun(last, outcome));
    if (last.state !== "done") {
      const reason = last.stoppedBy ?? "the run was ended.";
      throw unfinished({ reason, kept: last.answered, of: last.records }, context.signal);
    }
    return await giveRunResults(runs, { info: last, refused }, context);
  });
}

/** A run before it is loaded: its calls and a digest of all of them. */
interface RunPlan {
  readonly plan: CallPlan;
  readonly digest: string;
  /** The run, if its records are in the database already; then no answer was looked up. */
  readonly begun: RunInfo | null;
}

async function planRun(runs: PostgresRuns, known: readonly RunInfo[], context: RunContext) {
  const hash = setupHash(context);
  const length = Math.min(context.input.length, context.run.limit);
  const alike = known.filter(
    ({ state, records, setup }) => state !== "loading" && records === length && setup.hash === hash,
  );
  const planned = await planWith(alike.length === 0 ? runs : null, context);
  const begun = alike.find(({ digest }) => digest === planned.digest) ?? null;
  const isWhole = alike.length === 0 || begun !== null;
  return { ...(isWhole ? planned : await planWith(runs, context)), begun };
}

async function planWith(runs: PostgresRuns | null, context: RunContext) {
  const digest = createHash("sha256").update(setupHash(context));
  const journal = runs && {
    statusesOf: (keys: readonly string[]) => runs.statusesOf(keys.map(toRunKey)),
  };
  const plan = await planCalls(context, {
    journal,
    noteMails(entries) {
      for (const { id, key } of entries) digest.update(`${JSON.stringify(id)} ${key}\n`);
    },
  });
  return { plan, digest: digest.digest("base64url") };
}

// 132 bits name a state among any number; the database writes a key four times a record.
const HASH_LENGTH = 22;

/** Returns the key of a call with a shorter hash. */
function toRunKey(key: string): string {
  const [hash = "", ...repeat] = key.split("#");
  return [hash.slice(0, HASH_LENGTH), ...repeat].join("#");
}

async function join(
  runs: PostgresRuns,
  context: RunContext,
  { plan, digest, known }: RunPlan & { readonly known: readonly RunInfo[] },
): Promise<RunInfo> {
  const { questions, service, run, stderr, signal } = context;
  const { address: wire, modelId } = service;
  const setup = {
    hash: setupHash(context),
    wire,
    modelId,
    questions: JSON.stringify(questions),
  };
  const name = basename(context.inputPath);
  const maxCostUsd = Number.isFinite(run.maxCost) ? run.maxCost : null;
  const records = async function* records(): AsyncGenerator<RunRecord> {
    for await (const { record, key } of plan.calls()) {
      signal.throwIfAborted();
      const state = JSON.stringify(record.state);
      yield { id: record.id, key: toRunKey(key), state, note: toNote(record) };
    }
  };
  const made = { digest, setup, name, facts: "{}", records: plan.length, maxCostUsd };
  const info = await runs.join(made, records, signal);
  stderr.write(
    info.isJoined
      ? `Joined run ${info.run}, which has begun already: ${printCount(info.answered)} of ${printCount(info.records)} are answered.\n`
      : `Loaded as run ${info.run}; other machines join it with: triage work --run ${info.run}\n`,
  );
  const last = known.findLast((other) => other.name === name && other.setup.hash !== setup.hash);
  if (last !== undefined) {
    const what = last.setup.questions === setup.questions ? "another engine" : "other questions";
    stderr.write(printable`Run ${String(last.run)} of ${name} is another one: it asks ${what}.\n`);
  }
  return info;
}

/** The table is sorted, so its records are held; the file takes any number. */
const TABLE_AT_MOST = 200_000;

/** Writes the results of a run beside its input, prints the table, and returns the exit code. */
async function giveRunResults(
  runs: PostgresRuns,
  { info, refused }: { readonly info: RunInfo; readonly refused: ReadonlySet<number> },
  context: RunContext,
): Promise<number> {
  const { run, stderr, outputPath, source, input: file } = context;
  const hasTable = info.records <= TABLE_AT_MOST;
  const held: TableRow[] = [];
  const failures: CallFailure[] = [];
  const lost: number[] = [];
  const news = await runs.newIds(info);
  let failed = 0;
  const records = async function* records(): AsyncGenerator<ResultRecord> {
    for await (const row of answeredRows(runs, info, context)) {
      const { idx: index, input, record, kept } = row;
      if (row.isLost) lost.push(index);
      if (kept === null) failed += 1;
      if (kept === null && !refused.has(index) && failures.length < FAILURES_SHOWN) {
        failures.push({ index, id: record.id, error: String(record["error"]) });
      }
      if (hasTable && isInTable({ input, record, kept, news }, context)) {
        held.push(toTableRow(input, record, source));
      }
      yield record;
    }
  };
  const names = recordNames(context, info.answered < info.records);
  await writeRecords(outputPath, records(), { format: run.format, names });
  // Their records tell the reader to run again, which then asks them.
  if (lost.length > 0) await runs.reopen(info.run, lost);
  stderr.write(describeFailures(failures, failed - refused.size));
  stderr.write(describeWritten({ records: info.records, failed, of: file.length }, outputPath));
  if (run.raw) await printLines(rawLines(runs, info, context), context);
  if (hasTable) await printTable({ shown: held, of: info.records, news }, context);
  else stderr.write(`No table is printed of more than ${printCount(TABLE_AT_MOST)} records.\n`);
  return failed > 0 || file.leftOutCount > 0 ? 2 : 0;
}

async function* rawLines(runs: PostgresRuns, info: RunInfo, context: RunContext) {
  for await (const { record, kept } of answeredRows(runs, info, context)) {
    if (kept !== null) yield toRawLine(record.id, kept);
  }
}
