import { resolve } from "node:path";
import {
  type CliContext,
  CliError,
  printable,
  printAtLeast,
  printAtMost,
  printThreshold,
  readTextFile,
  toPrintable,
  truncateCharacters,
  UsageError,
  withRest,
} from "evaluator-kit";
import type { ActEvidence, CalibrationArtifact, LockedThreshold } from "evaluator-calibration";
import { calibratedAnswers, listDecisions } from "../calibration.ts";
import type { Column, RecordSetup, ResultRow } from "../columns/columns.ts";
import type { RecordSource } from "../input/record-source.ts";
import type { NewRecords } from "../store/stored-runs.ts";
import { type AnsweredRecord, meetsAll, readConditions } from "./conditions.ts";
import { ConditionError, listTokens } from "./tokens.ts";
import { printCount } from "../amounts.ts";

/** An action for the records that meet some conditions. */
interface Rule {
  /** Its line in the file, from 1. */
  readonly line: number;
  readonly conditions: Parameters<typeof meetsAll>[0];
  /** The text of the conditions. */
  readonly text: string;
  /** What another program is to do with them. */
  readonly action: string;
  /** The index of the action in its line. */
  readonly actionAt: number;
}

const PROBLEMS_SHOWN = 10;
const ACTION_LENGTH = 200;

interface RulesContext extends Pick<CliContext, "cwd"> {
  /** Returns a text that is the problem of an action, or any other value. */
  readonly parseAction?: (action: string) => unknown;
}

/**
 * Reads a file of rules, one a line: `scam >= 0.9 → junk`; `#` begins a comment.
 *
 * @throws CliError that names line, column and remedy of each problem.
 */
export async function readRules(
  file: string,
  columns: readonly Column[],
  { cwd, parseAction }: RulesContext,
): Promise<Rule[]> {
  const path = resolve(cwd, file);
  const text = await readTextFile(path);
  const rules: Rule[] = [];
  const problems: string[] = [];
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    try {
      const rule = readRule(line, index + 1, columns);
      if (rule === null) continue;
      const problem = parseAction?.(rule.action);
      if (typeof problem === "string") throw new ConditionError(rule.actionAt, problem);
      rules.push(rule);
    } catch (error) {
      if (!(error instanceof ConditionError)) throw error;
      problems.push(`line ${index + 1} column ${error.at + 1}: ${error.message}`);
    }
  }
  if (problems.length === 0 && rules.length === 0) {
    problems.push("it holds no rule; write one a line, such as scam >= 0.9 -> junk");
  }
  if (problems.length === 0) return rules;
  const problemLines = withRest(problems, PROBLEMS_SHOWN).join("\n  ");
  throw new CliError(printable`${path} cannot be used:\n  ` + problemLines);
}

function readRule(text: string, line: number, columns: readonly Column[]): Rule | null {
  const [first] = listTokens(text);
  if (first?.kind === "end") return null;
  const { conditions, arrow } = readConditions(text, columns);
  if (arrow === null) {
    const end = text.trimEnd().length;
    throw new ConditionError(end, "add an arrow and an act, such as -> junk");
  }
  const action = readAction(text, arrow.end);
  const actionAt = text.length - text.slice(arrow.end).trimStart().length;
  return { line, conditions, action, actionAt, text: text.slice(0, arrow.at).trim() };
}

// A comment needs a space before it: "label #1" is an action.
function readAction(text: string, start: number): string {
  const begin = start + text.slice(start).search(/\S|$/u);
  const isQuoted = text.charAt(begin) === '"';
  const [quotedToken] = isQuoted ? listTokens(text, begin) : [];
  const action =
    quotedToken?.text ??
    text
      .slice(begin)
      .replace(/^#.*$|\s#(?:\s.*)?$/su, "")
      .trim();
  if (action === "") throw new ConditionError(start, "the action is missing, such as junk");
  return truncateCharacters(toPrintable(action), ACTION_LENGTH);
}

/** Returns a row of results as conditions read it. */
export function toAnswered(
  row: ResultRow,
  { calibration, source }: Pick<RecordSetup, "calibration"> & { readonly source: RecordSource },
  newRecords: NewRecords | null,
): AnsweredRecord {
  const { input, kept: keptEvaluation } = row;
  return {
    day: source.dayOf?.(input) ?? "",
    answers:
      keptEvaluation === null ? null : calibratedAnswers(keptEvaluation, calibration).answers,
    isNew: newRecords?.ids.has(input.id) ?? false,
    isRefused: row.isRefused === true,
    // Both are created at their use.
    get record() {
      return row.record;
    },
    get decisions() {
      return listDecisions(keptEvaluation, calibration);
    },
  };
}

/** `--since` and `--only`, as typed. */
interface FilterOptions {
  readonly since?: string | undefined;
  readonly only?: string | undefined;
}

/**
 * Returns a predicate for the shown records; null if all are shown.
 *
 * @throws UsageError that names the column of `--only` with an unknown answer, and all answers.
 */
export function readFilter(
  { since, only }: FilterOptions,
  columns: readonly Column[],
): ((record: AnsweredRecord) => boolean) | null {
  if (since === undefined && only === undefined) return null;
  const conditions = only === undefined ? [] : readOnly(only, columns);
  return (record) => (since === undefined || record.day >= since) && meetsAll(conditions, record);
}

function readOnly(only: string, columns: readonly Column[]) {
  try {
    const { conditions, arrow } = readConditions(only, columns);
    if (arrow === null) return conditions;
    throw new ConditionError(arrow.at, "an arrow belongs in a file of --rules");
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    throw new UsageError(`--only, column ${error.at + 1}: ${error.message}.`);
  }
}

/** Describes the filter; null without one. */
export function describeFilter({ since, only }: FilterOptions): string | null {
  const parts = [since && `since ${since}`, only && `only ${only}`];
  return parts.filter(Boolean).join(", ") || null;
}

/** The act that a rule asks for on a record, if it is promised. */
type RuleAct =
  | { readonly question: string; readonly act: string; readonly evidence: ActEvidence }
  | { readonly evidence: null };

/** Lets the first rule that a record meets take it, and counts the records of each rule. */
export function planOf(rules: readonly Rule[], calibration: CalibrationArtifact | null) {
  const counts = rules.map((rule) => ({ rule, taken: 0, promised: 0 }));
  return {
    /** Returns the rule that takes a record, as its index and its action, and its act; null for none. */
    take(record: AnsweredRecord) {
      const at = rules.findIndex(({ conditions }) => meetsAll(conditions, record));
      const count = counts[at];
      if (count === undefined) return null;
      const act = toAct(count.rule, record);
      count.taken += 1;
      count.promised += Number(act.evidence !== null);
      return { at, action: count.rule.action, act };
    },
    /** Returns the rules, with the number of records that each took and the promise of their acts. */
    rules: () =>
      counts.map(({ rule, taken: recordCount, promised: promisedCount }) => ({
        rule,
        taken: recordCount,
        isPromised: promisedCount > 0 && promisedCount === recordCount,
        promise: describePromise(findPromise(rule, calibration), recordCount, promisedCount),
      })),
  };
}

/** Returns the one answer that a rule asks for; undefined if it asks for more or for none. */
function wantedBy({ conditions: [condition, ...others] }: Rule) {
  return others.length > 0 ? undefined : condition?.wanted;
}

function toAct(rule: Rule, { decisions }: AnsweredRecord): RuleAct {
  const { question = "", acts = [] } = wantedBy(rule) ?? {};
  const decision = decisions[question];
  const isWanted = decision != null && decision.act !== null && acts.includes(decision.act);
  return isWanted ? { question, ...decision } : { evidence: null };
}

/** Returns the threshold that promises the acts of a rule, or in words why there is none. */
function findPromise(rule: Rule, calibration: CalibrationArtifact | null) {
  if (calibration === null) return "no calibration (--calibration)";
  if (rule.conditions.length > 1) {
    return "the rule asks for more than one answer";
  }
  const wantedAct = wantedBy(rule) ?? null;
  if (wantedAct === null) return "only a yes, a no or the likeliest option or level can have one";
  const lockedThreshold = calibration.thresholds.find(
    ({ question, action }) =>
      question === wantedAct.question && (action === "top" || wantedAct.acts.includes(action)),
  );
  if (lockedThreshold?.these !== undefined)
    return "it is about exactly some records; use the command act";
  return lockedThreshold ?? `no threshold of ${toPrintable(wantedAct.question)} is promised`;
}

function describePromise(
  lockedThreshold: LockedThreshold | string,
  takenCount: number,
  promisedCount: number,
) {
  if (typeof lockedThreshold === "string") return `no promise: ${lockedThreshold}`;
  const { question, action, threshold, maxRisk, confidence, n, wrong } = lockedThreshold;
  const answers = `${action === "top" ? "" : `"${action}" `}answers to ${toPrintable(question)}`;
  const share = `at most ${printAtMost(maxRisk)} of all ${answers} printed at ${printThreshold(threshold)} and above are wrong`;
  const basis = `with ${printAtLeast(confidence)} confidence (${printCount(wrong)} of ${printCount(n)} labels)`;
  const part =
    promisedCount < takenCount
      ? ` for ${printCount(promisedCount)} of ${printCount(takenCount)}`
      : "";
  const head = promisedCount === 0 ? "no promise for any" : `promised${part}`;
  return `${head}: ${share}, ${basis}`;
}
