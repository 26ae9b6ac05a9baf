import { nameModel } from "evaluator-calibration";
import {
  compareLabelled,
  LEAST_JUDGED,
  reportQuestions,
  toLabelledRows,
} from "evaluator-calibration/reports";
import type { KeptEvaluation } from "evaluator-runs/results";
import type { Engine } from "../engines/engine.ts";
import { describeRepeats } from "../report/check-sentences.ts";
import { describeBasis } from "../report/sentences.ts";
import { type Asked, joinEngine } from "./asked.ts";
import { pairEngines } from "./engine-pairs.ts";

/** An engine's answers, and the reasons of its failures, by the ids of the records. */
interface AnsweredEngine {
  readonly engine: Engine;
  readonly evaluations: ReadonlyMap<string, KeptEvaluation>;
  readonly failures: ReadonlyMap<string, string>;
}

/** The content of a comparison's `report.json`: the numbers of the page. */
export type Comparison = ReturnType<typeof compareEngines>;
/** Whether an engine is as good as the first, by the margin. */
type Judgement = "as good" | "worse" | "not shown" | "no margin" | "no fair draw";

/** The confidence that the promises of a comparison share. */
const CONFIDENCE = 0.95;

const NO_LABELS =
  "Without labels nothing is known about mistakes; label some records and name their file. That engines agree is no evidence: as a confidence it was worse than the first engine alone (4.18 % against 2.88 % wrong).";

/** Compares the answers of several engines with each other and with the labels. */
export function compareEngines(engines: readonly AnsweredEngine[], comparedInput: Asked) {
  const { options } = comparedInput;
  const { margin = null, calibrated: isCalibrated = false, seed, require: maxRisk } = options;
  const names = engines.map(({ engine }) => engine.name);
  const joinedColumn = engines.map(({ engine, evaluations }) =>
    joinEngine(engine.name, evaluations, comparedInput),
  );
  const answeredQuestions = Object.entries(comparedInput.questions).map(
    ([question, { type: kind }]) => ({
      question,
      kind,
      columns: onSameRecords(joinedColumn, question),
    }),
  );
  const all = answeredQuestions.flatMap(({ columns }) => columns);
  const reports = listReports(all, comparedInput);
  // Each engine but the first on each question is a line, and all lines share one level.
  const lines = answeredQuestions.reduce(
    (sum, { columns: [, ...others] }) => sum + others.filter((one) => one?.rows).length,
    0,
  );
  const questions = answeredQuestions.map(({ question, kind, columns }) => {
    const comparedQuestion = engines.map((engine, at) => {
      const [first = null, column = null] = [columns[0], columns[at]];
      const difference = at === 0 ? null : toDifference(first, column, lines);
      return {
        name: engine.engine.name,
        answered: column?.column.ids.length ?? 0,
        /** Share of records in which readings disagreed; null with one reading. */
        flips: findFlips(engine, question),
        /** Null without labels. */
        report: (column?.rows && reports.get(column.rows)) ?? null,
        /** To the first engine, on the labelled records of both. */
        difference,
        judgement: at === 0 ? ("first" as const) : judge(difference, margin),
      };
    });
    const judgedEngines = comparedQuestion.flatMap(({ name, report }, at) => {
      const { column, rows } = columns[at] ?? {};
      return column && rows && report ? [{ name, column, rows, report }] : [];
    });
    return {
      question,
      kind,
      engines: comparedQuestion,
      /** Without labels none. */
      pairs: pairEngines(judgedEngines),
    };
  });
  return {
    version: 2,
    labels: comparedInput.labelsFile,
    records: comparedInput.states.size,
    seed,
    margin,
    isCalibrated,
    maxRisk,
    confidence: CONFIDENCE,
    notes: [
      ...(comparedInput.labelsFile === null ? [NO_LABELS] : []),
      ...describeRepeats(joinedColumn.flatMap(listJoined)),
      ...joinedColumn.flatMap((one, at) => notesOn(one).map((note) => `${names[at]}: ${note}`)),
    ],
    engines: engines.map(measure),
    questions,
  };
}

/** Returns the notes on an engine's answers, and on their origin if it is no model. */
function notesOn({ columns, notes }: ReturnType<typeof joinEngine>): string[] {
  const origins = [...columns.values()].flatMap(
    ({ column }) => describeBasis(column.source.basis) ?? [],
  );
  return [...notes.map((note) => `${note}.`), ...new Set(origins)];
}

function listJoined({ columns }: ReturnType<typeof joinEngine>) {
  return [...columns.values()].flatMap((one) => one.joinedColumn ?? []);
}

function measure({ engine, evaluations, failures }: AnsweredEngine) {
  const all = [...evaluations.values()];
  const times = Float64Array.from(all, ({ timing }) => timing.totalMs).toSorted();
  const { usdPerMillionTokens: price = null } = engine;
  const costs = all.map(({ costUsd, usage }) => {
    const estimatedUsd =
      price === null || usage === null ? null : (usage.inputTokens * price) / 1e6;
    return costUsd ?? estimatedUsd;
  });
  const isPriced = all.length > 0 && costs.every((cost) => cost !== null);
  const spentUsd = isPriced ? costs.reduce((sum: number, cost) => sum + (cost ?? 0), 0) : null;
  const models = ranked(all.map(({ modelId }) => nameModel(modelId)));
  return {
    name: engine.name,
    /** The models that answered, the commonest first. */
    models: models.map(([name]) => name),
    answered: all.length,
    failed: failures.size,
    /** Each reason of a failure with its count. */
    failures: ranked([...failures.values()]).map(([message, n]) => ({ message, n })),
    /** Percentiles of the calls' times; null without answers. */
    p50Ms: times[Math.ceil(0.5 * times.length) - 1] ?? null,
    p95Ms: times[Math.ceil(0.95 * times.length) - 1] ?? null,
    /** US dollars; null if the price of a call is unknown. */
    costPer1000Usd: spentUsd === null ? null : (1000 * spentUsd) / all.length,
    spentUsd,
  };
}

function ranked(names: readonly string[]) {
  const groups = Map.groupBy(names, (name) => name);
  const counts = Array.from(groups, ([name, { length }]) => [name, length] as const);
  return counts.toSorted(([, one], [, other]) => other - one);
}

type ComparedColumn = ReturnType<typeof onSameRecords>[number];

/** Takes the labels of the records that every engine answered: other figures do not compare. */
function onSameRecords(engines: readonly ReturnType<typeof joinEngine>[], question: string) {
  const columns = engines.map((engine) => engine.columns.get(question) ?? null);
  const isAnsweredByAll = (id: string) =>
    columns.every((other) => other !== null && other.column.rowOf(id) !== undefined);
  return columns.map((one) => {
    const rows = one?.joinedColumn ? toLabelledRows(one.joinedColumn, isAnsweredByAll) : null;
    /** Null without a labelled record. */
    return one && { column: one.column, rows: rows && rows.ids.length > 0 ? rows : null };
  });
}

function findFlips({ evaluations }: AnsweredEngine, question: string): number | null {
  const flips = [...evaluations.values()].flatMap(({ providerMetadata }) => {
    const readings = providerMetadata["logprobs"] as Record<string, { flips: boolean }> | undefined;
    return readings?.[question]?.flips ?? [];
  });
  return flips.length === 0 ? null : flips.filter(Boolean).length / flips.length;
}

/** Reports all engines on all questions together, since their promises share one level. */
function listReports(columns: readonly ComparedColumn[], { options }: Asked) {
  const { require: maxRisk, seed } = options;
  const all = columns.flatMap((one) => one?.rows ?? []);
  const reportOptions = { maxRisk, confidence: CONFIDENCE, seed, onAverage: false, costs: null };
  const reports = reportQuestions(all, reportOptions);
  return new Map(all.map((rows, at) => [rows, reports[at] ?? null]));
}

function toDifference(first: ComparedColumn, column: ComparedColumn, lines: number) {
  if (!first?.rows || !column?.rows) return null;
  return compareLabelled(first.rows, column.rows, { thresholds: [], lines });
}

function judge(difference: ReturnType<typeof toDifference>, margin: number | null): Judgement {
  if (margin === null) return "no margin";
  if (difference === null || difference.n < LEAST_JUDGED) return "not shown";
  if (!difference.isFair) return "no fair draw";
  const { low, high } = difference.brierDifference;
  if (high <= margin) return "as good";
  return low > margin ? "worse" : "not shown";
}
