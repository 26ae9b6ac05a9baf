import { createHash } from "node:crypto";
import { basename } from "node:path";
import { printable } from "evaluator-kit";
import type { RunRecord, RunStore } from "../store/run-store.ts";
import type { RunInfo } from "../store/stored-runs.ts";
import { printCount } from "../amounts.ts";
import { setupHash } from "../journal/kept-answer.ts";
import type { RunPrice } from "../money/price.ts";
import { engineNames } from "../run/ask-engines.ts";
import type { StoredFacts } from "../run-facts.ts";
import { planCalls } from "../run/plan-calls.ts";
import type { CompleteRun } from "../run/results.ts";
import type { RunContext } from "../run/run-context.ts";
import type { AskedRun, PlanRun } from "../run/start-run.ts";
import { toAnsweredRow, withRuns } from "./open-runs.ts";
import { describeSharedRun, workWithOthers } from "./work.ts";

/**
 * Returns what plans a run in a database: it is loaded once, and asked about together with every machine that
 * starts the same command, or works on the run.
 */
export const planTogether =
  (url: string): PlanRun =>
  async (context, use) => {
    const { dryRun: isDry = false } = context.run;
    return await withRuns(url, { ...context, supervises: !isDry }, async (runs) => {
      // A dry run looks up each answer, also if the run has begun.
      const knownRuns = isDry ? [] : await runs.list();
      const { plan, begun: begunRun, digest } = await planRun(runs, knownRuns, context);
      const counts = begunRun === null ? undefined : await listCounts(begunRun, runs);
      const ask = async (price: RunPrice) => {
        const info = await join(runs, context, { plan, digest, known: knownRuns, price });
        return await askTogether(info, { url, runs, context, price, asking: context.run });
      };
      return await use({ plan, counts, ask: isDry ? null : ask });
    });
  };

async function askTogether(
  info: RunInfo,
  setting: Parameters<typeof workWithOthers>[1] & { readonly context: RunContext },
): Promise<AskedRun> {
  const { runs, context } = setting;
  const refusals = await runs.refused(info.run);
  const outcome = await workWithOthers(info, setting);
  const last = await runs.get(info.run);
  const { state, records, answered: keptCount, failed: failedCount } = last;
  const stoppedBy = state === "done" ? null : (last.stoppedBy ?? "the run was ended.");
  return {
    line: describeSharedRun(last, outcome),
    kept: keptCount,
    stoppedBy,
    notAsked: stoppedBy?.includes("--max-cost") ? records - keptCount - failedCount : null,
    results: () => toResults(runs, { info: last, refusals }, context),
  };
}

async function listCounts({ run, records, answered: keptCount }: RunInfo, runs: RunStore) {
  const { size: refusedCount } = await runs.refused(run);
  return { open: records - keptCount - refusedCount, kept: keptCount, refused: refusedCount };
}

// `begun` is the run, if its records are in the database already; then no answer is looked up.
async function planRun(runs: RunStore, knownRuns: readonly RunInfo[], context: RunContext) {
  const hash = setupHash(context);
  const length = Math.min(context.input.length, context.run.limit);
  const alike = knownRuns.filter(
    ({ state, records, setup }) => state !== "loading" && records === length && setup.hash === hash,
  );
  const runPlan = await planWith(alike.length === 0 ? runs : null, context);
  const name = basename(context.inputPath);
  const { digest, digestOf, ...rest } = runPlan;
  const same = alike.filter((other) => [digest, digestOf(other.name)].includes(other.digest));
  // Two runs of the same records at one time would each pay for all of them; one that was stopped keeps its cap.
  const begunRun =
    same.find((other) => other.name === name) ?? same.find(({ state }) => state !== "done") ?? null;
  const { plan } = alike.length === 0 || begunRun !== null ? rest : await planWith(runs, context);
  const newDigest = same.length === 0 ? digest : digestOf(name);
  return { plan, digest: begunRun?.digest ?? newDigest, begun: begunRun };
}

async function planWith(runs: RunStore | null, context: RunContext) {
  const digest = createHash("sha256").update(setupHash(context));
  const plan = await planCalls(context, {
    ...(runs && { statusesOf: (keys) => runs.statusesOf(keys) }),
    noteRecords(entries) {
      for (const { id, key } of entries) digest.update(`${JSON.stringify(id)} ${key}\n`);
    },
  });
  // The digest of a run of the same records as an earlier one of another name.
  const digestOf = (name: string) => digest.copy().update(JSON.stringify(name)).digest("base64url");
  return { plan, digest: digest.copy().digest("base64url"), digestOf };
}

async function join(
  runs: RunStore,
  context: RunContext,
  {
    plan,
    digest,
    known: knownRuns,
    price,
  }: Pick<Awaited<ReturnType<typeof planWith>>, "plan" | "digest"> & {
    readonly known: readonly RunInfo[];
    readonly price: RunPrice;
  },
) {
  const { service, run, stderr, signal, source } = context;
  const { address: wire, modelId } = service;
  const questions = JSON.stringify(context.questions);
  const setup = { hash: setupHash(context), wire, modelId, questions };
  const name = basename(context.inputPath);
  const maxCostUsd = Number.isFinite(run.maxCost) ? run.maxCost : null;
  const records = async function* records(): AsyncGenerator<RunRecord> {
    for await (const { record, key } of plan.calls()) {
      signal.throwIfAborted();
      const { id, state, source } = record;
      const note = source && JSON.stringify(source);
      yield { id, key, state: JSON.stringify(state), note };
    }
  };
  const facts = JSON.stringify(listFacts(context, price));
  const newRun = { digest, setup, name, facts, records: plan.length, maxCostUsd };
  const info = await runs.join(newRun, records, signal);
  const which = info.name === name ? "" : printable` of ${info.name}`;
  stderr.write(
    info.isJoined
      ? `Joined run ${info.run}${which}: ${printCount(info.answered)} of ${printCount(info.records)} answered already.\n`
      : `Loaded as run ${info.run}; other machines join with: ${source.program} work --run ${info.run}\n`,
  );
  const last = knownRuns.findLast(
    (other) => other.name === name && other.setup.hash !== setup.hash,
  );
  if (last !== undefined) {
    const what = last.setup.questions === questions ? "another engine" : "other questions";
    stderr.write(printable`Run ${String(last.run)} of ${name} asks ${what}.\n`);
  }
  return info;
}

/** Returns what the run notes: its engines, if one is asked again, since the report counts what each did. */
function listFacts(context: RunContext, price: RunPrice): StoredFacts {
  const engines = engineNames(context)?.map((name, at) => {
    const { inputUsdPerMillionTokens: usd } = at === 0 ? price : (price.next ?? price);
    return { name, usdPerMillionTokens: usd };
  });
  const { newSince, state } = context.run;
  const { id } = context.source.keepStateOptions(state, context);
  const idColumn = typeof id === "string" ? id : undefined;
  return { engines, idColumn, newSince };
}

/** The table is sorted in memory; the file of results takes any number of records. */
const TABLE_AT_MOST = 200_000;

async function toResults(
  runs: RunStore,
  { info, refusals }: { readonly info: RunInfo; readonly refusals: ReadonlySet<number> },
  context: RunContext,
): Promise<CompleteRun> {
  const lostIndexes = new Set<number>();
  const rows = async function* rows() {
    for await (const row of runs.rows(info.run)) {
      const answeredRow = toAnsweredRow(row, context);
      if (answeredRow.isLost) lostIndexes.add(row.idx);
      yield Object.assign(answeredRow, { isRefused: refusals.has(row.idx) });
    }
  };
  return {
    records: info.records,
    hasErrors: info.answered < info.records,
    news: await runs.newIds(info),
    rows,
    tableAtMost: TABLE_AT_MOST,
    // The records of lost answers advise to run again, which then asks for them.
    onWritten: async () =>
      void (lostIndexes.size > 0 && (await runs.reopen(info.run, [...lostIndexes]))),
  };
}
