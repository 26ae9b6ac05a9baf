import {
  compareLabelled,
  type LabelledComparison,
  LEAST_JUDGED,
  type QuestionKind,
  type QuestionReport,
  reportQuestions,
  toLabelledRows,
} from "evaluator-calibration";
import { truncateCharacters } from "evaluator-kit";
import { describeState } from "../files/read-journal.ts";
import { agreementsOf, disagreementsOf } from "./agreement.ts";
import type { AskedEngine } from "./ask-engines.ts";
import type { CompareOptions } from "../commands/ask-commands.ts";
import { type EngineColumn, joinEngine, recalibrateEngine } from "./engine-columns.ts";
import type { Asked } from "./read-asked.ts";

/** What `report.json` of a comparison holds: the numbers of the page. */
export type Comparison = ReturnType<typeof compareEngines>;

/** What an engine took and cost. */
export type ComparedEngine = ReturnType<typeof measure>;

/** Whether an engine is as good as the first, by the margin that was given beforehand. */
type Judgement = "first" | "as good" | "worse" | "not shown" | "no margin";

/** How one engine does on one question. */
export interface EngineOnQuestion {
  readonly name: string;
  readonly answered: number;
  /** Share of records in which readings disagreed about the winner; null where there is one reading. */
  readonly flips: number | null;
  /** Null without labels. */
  readonly report: QuestionReport | null;
  /** Against the first engine, on the labelled records of both. */
  readonly difference: LabelledComparison | null;
  readonly judgement: Judgement;
}

/** One question, and every engine on it. */
export type ComparedQuestion = ReturnType<typeof compareQuestion>;

/** The confidence that the promises of a comparison share. */
const CONFIDENCE = 0.95;

/** Returns how engines compare. */
export function compareEngines(
  engines: readonly AskedEngine[],
  asked: Asked,
  options: CompareOptions,
) {
  const printed = engines.map((engine) => joinEngine(engine, asked, options));
  const { margin = null, calibrated: isCalibrated = false, seed, require: maxRisk } = options;
  const joined = isCalibrated
    ? printed.map((engine) => recalibrateEngine(engine, asked, options))
    : printed;
  const answered = Object.entries(asked.questions).map(([question, { type }]) => ({
    question,
    kind: type,
    columns: onSameRecords(joined.map((engine) => engine.columns.get(question) ?? null)),
  }));
  const reports = reportsOf(
    answered.flatMap(({ columns }) => columns),
    options,
  );
  const questions = answered.map((one) => compareQuestion(one, { engines, reports, options }));
  return {
    version: 1,
    labels: asked.labelsFile,
    records: asked.states.size,
    seed,
    /** How much higher a Brier score may be and still be called as good. */
    margin,
    isCalibrated,
    maxRisk,
    confidence: CONFIDENCE,
    /** What is to be known before any figure. */
    notes: joined.flatMap(({ notes }, at) =>
      notes.map((note) => `${engines[at]?.engine.name}: ${note}.`),
    ),
    engines: engines.map(measure),
    questions,
    /** The states of the records that engines disagree about, where they were asked for. */
    texts: options.withText === true ? textsOf(questions, asked) : null,
  };
}

function measure({ engine, evaluations, failures }: AskedEngine) {
  const all = [...evaluations.values()];
  const times = Float64Array.from(all, ({ ms }) => ms).toSorted();
  const costs = all.map(({ costUsd }) => costUsd);
  const isPriced = all.length > 0 && costs.every((cost) => cost !== null);
  const spentUsd = isPriced ? costs.reduce((sum: number, cost) => sum + (cost ?? 0), 0) : null;
  return {
    name: engine.name,
    /** The models that answered, the commonest first. */
    models: ranked(all.map(({ modelId }) => modelId ?? "a model that is not named")).map(
      ([name]) => name,
    ),
    answered: all.length,
    failed: failures.size,
    /** Each reason of a failure, and how often. */
    failures: ranked([...failures.values()]).map(([message, n]) => ({ message, n })),
    /** Time of half of the calls, and of 95 in 100, in milliseconds; null without answers. */
    p50Ms: times[Math.ceil(0.5 * times.length) - 1] ?? null,
    p95Ms: times[Math.ceil(0.95 * times.length) - 1] ?? null,
    /** US dollars; null where it does not say what a call costs. */
    costPer1000Usd: spentUsd === null ? null : (1000 * spentUsd) / all.length,
    spentUsd,
  };
}

function ranked(names: readonly string[]): [name: string, n: number][] {
  const groups = Map.groupBy(names, (name) => name);
  return [...groups]
    .map(([name, { length }]): [string, number] => [name, length])
    .toSorted(([, one], [, other]) => other - one);
}

interface AnsweredQuestion {
  readonly question: string;
  readonly kind: QuestionKind;
  readonly columns: readonly (EngineColumn | null)[];
}

interface Compared {
  readonly engines: readonly AskedEngine[];
  readonly reports: ReadonlyMap<EngineColumn | null, QuestionReport>;
  readonly options: CompareOptions;
}

function compareQuestion(
  { question, kind, columns }: AnsweredQuestion,
  { engines, reports, options }: Compared,
) {
  const names = engines.map(({ engine }) => engine.name);
  const [first = null] = columns;
  return {
    question,
    kind,
    engines: columns.map((column, at) => ({
      name: names[at] ?? "",
      answered: column?.column.ids.length ?? 0,
      flips: flipsOf(engines[at], question),
      report: reports.get(column) ?? null,
      ...judge(first, column, { isFirst: at === 0, options }),
    })),
    agreements: agreementsOf(columns, names),
    disagreements: disagreementsOf(columns),
  };
}

/** Leaves the labels of those records that every engine answered: figures of others do not compare. */
function onSameRecords(columns: readonly (EngineColumn | null)[]): (EngineColumn | null)[] {
  const isAnsweredByAll = (id: string) =>
    columns.every((other) => other !== null && other.column.rowOf(id) !== undefined);
  return columns.map((one) => {
    if (one === null || one.joined === null) return one;
    const rows = toLabelledRows(one.joined, isAnsweredByAll);
    return { ...one, rows: rows.ids.length === 0 ? null : rows };
  });
}

function flipsOf(engine: AskedEngine | undefined, question: string): number | null {
  const flips = [...(engine?.evaluations.values() ?? [])].flatMap(
    (evaluation) => evaluation.flips?.[question] ?? [],
  );
  return flips.length === 0 ? null : flips.filter(Boolean).length / flips.length;
}

/** Reports all engines on all questions together: their promises share one level. */
function reportsOf(columns: readonly (EngineColumn | null)[], options: CompareOptions) {
  const labelled = columns.flatMap((one) => {
    if (one === null || one.rows === null || one.joined === null) return [];
    return [{ one, rows: one.rows, joined: one.joined, join: one.join }];
  });
  const { require: maxRisk, seed } = options;
  const wanted = { maxRisk, confidence: CONFIDENCE, seed, onAverage: false, costs: null };
  const reports = reportQuestions(labelled, wanted);
  return new Map(labelled.map(({ one }, at) => [one, reports[at] as QuestionReport]));
}

function judge(
  first: EngineColumn | null,
  column: EngineColumn | null,
  { isFirst, options }: { readonly isFirst: boolean; readonly options: CompareOptions },
): Pick<EngineOnQuestion, "difference" | "judgement"> {
  if (isFirst) return { difference: null, judgement: "first" };
  const { seed, margin = null } = options;
  const [one, other] = [first?.rows ?? null, column?.rows ?? null];
  const difference =
    one === null || other === null ? null : compareLabelled(one, other, { thresholds: [], seed });
  if (margin === null) return { difference, judgement: "no margin" };
  if (difference === null || difference.n < LEAST_JUDGED)
    return { difference, judgement: "not shown" };
  const { low, high } = difference.brierDifference;
  return {
    difference,
    judgement: high <= margin ? "as good" : low > margin ? "worse" : "not shown",
  };
}

function textsOf(
  questions: readonly ComparedQuestion[],
  { states }: Asked,
): Record<string, string> {
  const ids = new Set(questions.flatMap(({ disagreements }) => disagreements.map(({ id }) => id)));
  return Object.fromEntries(
    [...ids].map((id) => [id, truncateCharacters(describeState(states.get(id) ?? ""), 200)]),
  );
}
