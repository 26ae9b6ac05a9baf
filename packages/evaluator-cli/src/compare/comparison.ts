import {
  compareLabelled,
  LEAST_JUDGED,
  type QuestionReport,
  reportQuestions,
  toLabelledRows,
} from "evaluator-calibration";
import { truncateCharacters } from "evaluator-kit";
import type { CompareOptions } from "../commands/ask-commands.ts";
import { describeState } from "../files/read-answers.ts";
import type { AskedEngine } from "./ask-engines.ts";
import { agreementsOf } from "./agreements.ts";
import { type EngineColumn, joinEngine } from "./engine-columns.ts";
import type { Asked } from "./read-asked.ts";

/** The content of a comparison's `report.json`: the numbers of the page. */
export type Comparison = ReturnType<typeof compareEngines>;
/** Whether an engine is as good as the first, by the margin. */
type Judgement = "as good" | "worse" | "not shown" | "no margin";

/** The confidence that the promises of a comparison share. */
const CONFIDENCE = 0.95;

/** Compares the answers of several engines with each other and with the labels. */
export function compareEngines(
  engines: readonly AskedEngine[],
  asked: Asked,
  options: CompareOptions,
) {
  const { margin = null, calibrated: isCalibrated = false, seed, require: maxRisk } = options;
  const names = engines.map(({ engine }) => engine.name);
  const joined = engines.map((engine) => joinEngine(engine, asked, options));
  const answered = Object.entries(asked.questions).map(([question, { type: kind }]) => ({
    question,
    kind,
    columns: onSameRecords(joined.map(({ columns }) => columns.get(question) ?? null)),
  }));
  const reports = reportsOf(
    answered.flatMap(({ columns }) => columns),
    options,
  );
  const questions = answered.map(({ question, kind, columns }) => {
    const compared = engines.map((engine, at) => {
      const [first = null, column = null] = [columns[0], columns[at]];
      const difference = at === 0 ? null : differenceOf(first, column, seed);
      return {
        name: engine.engine.name,
        answered: column?.column.ids.length ?? 0,
        /** Share of records in which readings disagreed; null with one reading. */
        flips: flipsOf(engine, question),
        /** Null without labels. */
        report: reports.get(column) ?? null,
        /** To the first engine, on the labelled records of both. */
        difference,
        judgement: at === 0 ? ("first" as const) : judge(difference, options),
      };
    });
    return Object.assign({ question, kind, engines: compared }, agreementsOf(columns, names));
  });
  return {
    version: 1,
    labels: asked.labelsFile,
    records: asked.states.size,
    seed,
    margin,
    isCalibrated,
    maxRisk,
    confidence: CONFIDENCE,
    notes: joined.flatMap(({ notes }, at) => notes.map((note) => `${names[at]}: ${note}.`)),
    engines: engines.map(measure),
    questions,
    /** With --with-text: the states of the records that engines disagree about. */
    texts: options.withText === true ? textsOf(questions, asked) : null,
  };
}

function measure({ engine, evaluations, failures }: AskedEngine) {
  const all = [...evaluations.values()];
  const times = Float64Array.from(all, ({ ms }) => ms).toSorted();
  const costs = all.map(({ costUsd }) => costUsd);
  const isPriced = all.length > 0 && costs.every((cost) => cost !== null);
  const spentUsd = isPriced ? costs.reduce((sum: number, cost) => sum + (cost ?? 0), 0) : null;
  const models = ranked(all.map(({ modelId }) => modelId ?? "a model that is not named"));
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
function onSameRecords(columns: readonly (EngineColumn | null)[]) {
  const isAnsweredByAll = (id: string) =>
    columns.every((other) => other !== null && other.column.rowOf(id) !== undefined);
  return columns.map((one) => {
    const rows = one?.joined ? toLabelledRows(one.joined, isAnsweredByAll) : null;
    /** Null without a labelled record. */
    return one && { ...one, rows: rows === null || rows.ids.length === 0 ? null : rows };
  });
}

function flipsOf({ evaluations }: AskedEngine, question: string): number | null {
  const flips = [...evaluations.values()].flatMap(
    (evaluation) => evaluation.flips?.[question] ?? [],
  );
  return flips.length === 0 ? null : flips.filter(Boolean).length / flips.length;
}

/** Reports all engines on all questions together, since their promises share one level. */
function reportsOf(
  columns: readonly ComparedColumn[],
  { require: maxRisk, seed }: CompareOptions,
): ReadonlyMap<ComparedColumn, QuestionReport> {
  const labelled = columns.flatMap((one) => {
    return one === null || one.rows === null ? [] : [{ one, rows: one.rows }];
  });
  const wanted = { maxRisk, confidence: CONFIDENCE, seed, onAverage: false, costs: null };
  const reports = reportQuestions(
    labelled.map(({ rows }) => rows),
    wanted,
  );
  return new Map(labelled.map(({ one }, at) => [one, reports[at] as QuestionReport]));
}

function differenceOf(first: ComparedColumn, column: ComparedColumn, seed: number) {
  if (!first?.rows || !column?.rows) return null;
  return compareLabelled(first.rows, column.rows, { thresholds: [], seed });
}

function judge(difference: ReturnType<typeof differenceOf>, { margin }: CompareOptions): Judgement {
  if (margin === undefined) return "no margin";
  if (difference === null || difference.n < LEAST_JUDGED) return "not shown";
  const { low, high } = difference.brierDifference;
  if (high <= margin) return "as good";
  return low > margin ? "worse" : "not shown";
}

function textsOf(
  questions: readonly { readonly disagreements: readonly { readonly id: string }[] }[],
  { states }: Asked,
): Readonly<Record<string, string>> {
  const ids = questions.flatMap(({ disagreements }) => disagreements.map(({ id }) => id));
  return Object.fromEntries(
    ids.map((id) => [id, truncateCharacters(describeState(states.get(id) ?? ""), 200)]),
  );
}
