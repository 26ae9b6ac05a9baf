import {
  CliError,
  percent,
  printable,
  printAtLeast,
  printAtMost,
  printThreshold,
} from "evaluator-kit";
import { tierNames } from "../decision/tier-question.ts";
import { blindName } from "../keys/budget-state.ts";
import { countWrongAnswers } from "./wrong-answers.ts";
import { type LoggedRecord, findMessage, PassedLines, toNote, readLines } from "./read-records.ts";

/** How messages are grouped; null for no group. */
const groupings = {
  day: ({ time }) => time.slice(0, 10),
  tier: ({ tierUsed, evaluation }) => (evaluation === null ? (tierUsed ?? "none") : null),
  key: ({ key }) => key ?? "none",
  cause: ({ cause }) => cause,
  upstream: ({ upstream }) => upstream,
  promise: findPromise,
  failure: findFailure,
  endpoint: ({ endpoint }) => endpoint,
  service: ({ evaluation }) => evaluation?.service ?? null,
} satisfies Record<string, (record: LoggedRecord) => string | null>;

/** The sums of no message; costs are in US dollars. */
const zeroSums = {
  messages: 0,
  /** Calls with own questions, and their cost. */
  evaluations: 0,
  evaluationUsd: 0,
  /** Those without a known price. */
  unpricedEvaluations: 0,
  decisionUsd: 0,
  replyUsd: 0,
  /** Decisions and replies without a known price. */
  unpriced: 0,
  /** Replies with known costs, also of the frontier tier for the same tokens. */
  compared: 0,
  comparedUsd: 0,
  frontierUsd: 0,
};

type Sums = typeof zeroSums;

/** US dollars with three digits. */
export const dollars = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  maximumSignificantDigits: 3,
});

/** Prints a sum with how many costs it lacks. */
function printCost(knownUsd: number, unknown: number): string {
  const lacking =
    unknown === 1 ? "one unknown cost" : `${unknown.toLocaleString("en")} unknown costs`;
  return unknown === 0 ? dollars.format(knownUsd) : `${dollars.format(knownUsd)} and ${lacking}`;
}

const zeroStep = { calls: 0, answers: 0, usd: 0, unpriced: 0 };

/** Totals of messages, also by group. */
export class Totals {
  readonly #all = { ...zeroSums };
  readonly #groupsByName = Object.entries(groupings).map(([name, of]) => {
    return { name, of, sums: new Map<string, Sums>() };
  });

  /** What each service did in calls in which another one may be asked again. */
  readonly #stepSums = new Map<string, typeof zeroStep>();

  /** How many answers of each step are wrong, in one sentence. */
  wrong = "How many are wrong is not known: it needs labels (report --labels FILE).";

  add(record: LoggedRecord): void {
    addTo(this.#all, record);
    for (const [stepIndex, step] of (record.evaluation?.steps ?? []).entries()) {
      const { service, model, answers, costUsd } = step;
      const stepName = `Step ${stepIndex + 1}, ${service} ${model}`.trimEnd();
      const stepSum = this.#stepSums.get(stepName) ?? { ...zeroStep };
      this.#stepSums.set(stepName, stepSum);
      stepSum.calls += 1;
      stepSum.answers += answers;
      stepSum.usd += costUsd ?? 0;
      stepSum.unpriced += Number(costUsd === null);
    }
    for (const { of, sums } of this.#groupsByName) {
      const group = of(record);
      const groupSum = sums.get(group ?? "") ?? { ...zeroSums };
      addTo(groupSum, record);
      if (group !== null) sums.set(group, groupSum);
    }
  }

  /** Describes all messages in sentences, or returns the sentence for none. */
  describe(noneText = "No message here matches."): string {
    const { messages, decisionUsd, replyUsd, frontierUsd, compared: comparedCount } = this.#all;
    const { evaluations, evaluationUsd, unpriced: unpricedCount, unpricedEvaluations } = this.#all;
    const loggedDays = [...(this.#groupsByName[0]?.sums.keys() ?? [])].toSorted();
    if (loggedDays.length === 0) return noneText;
    const paidText = printCost(decisionUsd + replyUsd, unpricedCount - unpricedEvaluations);
    const messagesText = `${messages.toLocaleString("en")} message${messages === 1 ? "" : "s"} from ${loggedDays[0]} to ${loggedDays.at(-1)} (UTC): ${paidText}.`;
    const totalSavedUsd = savedUsd(this.#all);
    const savedShare = frontierUsd > 0 ? `, ${percent(totalSavedUsd / frontierUsd)}` : "";
    const savedText = `${totalSavedUsd < 0 ? "Lost" : "Saved"} against frontier only, net of the decisions: ${dollars.format(Math.abs(totalSavedUsd))}${savedShare}.`;
    const callsText = `${evaluations.toLocaleString("en")} call${evaluations === 1 ? "" : "s"} with own questions: ${printCost(evaluationUsd, unpricedEvaluations)}.`;
    const ownText = [callsText, ...this.#describeSteps()].join(" ");
    if (messages === 0 && evaluations > 0) return ownText;
    const wholeText = evaluations === 0 ? messagesText : `${messagesText} ${ownText}`;
    return `${wholeText} ${comparedCount > 0 ? savedText : "The savings are unknown: no reply has a known price."}`;
  }

  #describeSteps(): string[] {
    const orderedSteps = [...this.#stepSums].toSorted(([one], [other]) => one.localeCompare(other));
    const lines = orderedSteps.map(([name, { calls, answers, usd, unpriced: unpricedCount }]) => {
      const answersText = `${answers.toLocaleString("en")} answer${answers === 1 ? "" : "s"}`;
      return `${name}: ${answersText} in ${calls.toLocaleString("en")} call${calls === 1 ? "" : "s"}, ${printCost(usd, unpricedCount)}.`;
    });
    return lines.length === 0 ? [] : [...lines, this.wrong];
  }

  /** The headings of a group's table after its name. */
  head(): string[] {
    const ownColumns = this.#all.evaluations > 0 ? ["own questions", "their cost"] : [];
    return ["messages", "decisions", "replies", ...ownColumns, "without a price", "saved"];
  }

  /** Returns a table for each way of grouping that has groups; a row begins with its group's name. */
  tables() {
    const places = tierNames.map(String);
    const hasOwn = this.#all.evaluations > 0;
    const groupTables = this.#groupsByName.map(({ name, sums }) => {
      const rows = Array.from(sums, ([group, sum]) => [group, ...listCells(sum, hasOwn)] as const);
      return { name, rows: rows.toSorted(([a], [b]) => places.indexOf(a) - places.indexOf(b)) };
    });
    return groupTables.filter(({ rows }) => rows.length > 0);
  }
}

/** The figures of calls with own questions, in columns that a log without them lacks. */
function ownCells({ evaluations, evaluationUsd }: Sums): string[] {
  return [evaluations.toLocaleString("en"), dollars.format(evaluationUsd)];
}

function listCells(groupSums: Sums, hasOwn: boolean): string[] {
  return [
    groupSums.messages.toLocaleString("en"),
    dollars.format(groupSums.decisionUsd),
    dollars.format(groupSums.replyUsd),
    ...(hasOwn ? ownCells(groupSums) : []),
    String(groupSums.unpriced),
    groupSums.compared === 0 ? "–" : dollars.format(savedUsd(groupSums)),
  ];
}

/** Returns the savings against the frontier tier, net of the decisions. */
function savedUsd({ frontierUsd, comparedUsd, decisionUsd }: Sums): number {
  return frontierUsd - comparedUsd - decisionUsd;
}

function addTo(changedSums: Sums, record: LoggedRecord): void {
  const { decisionCostUsd, replyCostUsd, frontierCostUsd, tierChosen, outputTokens } = record;
  const { evaluation } = record;
  if (evaluation !== null) {
    changedSums.evaluations += 1;
    changedSums.evaluationUsd += evaluation.usd ?? 0;
    changedSums.unpriced += Number(evaluation.usd === null);
    changedSums.unpricedEvaluations += Number(evaluation.usd === null);
    return;
  }
  if (record.key !== blindName) changedSums.messages += 1; // a comparison only costs
  changedSums.unpriced += Number(tierChosen !== null && decisionCostUsd === null);
  changedSums.unpriced += Number(outputTokens !== null && replyCostUsd === null);
  changedSums.decisionUsd += decisionCostUsd ?? 0;
  if (replyCostUsd === null) return;
  changedSums.replyUsd += replyCostUsd;
  if (frontierCostUsd === null) return;
  changedSums.compared += 1;
  changedSums.comparedUsd += replyCostUsd;
  changedSums.frontierUsd += frontierCostUsd;
}

/** Returns the promise of a message's choice, or why it has none; null without a calibration. */
export function findPromise({ promise }: LoggedRecord): string | null {
  const { evidence, why } = promise ?? {};
  if (evidence === undefined) return why === undefined ? null : `none: ${why}`;
  const { threshold, maxRisk, confidence, n, wrong } = evidence;
  return `at most ${printAtMost(maxRisk)} wrong at ${printThreshold(threshold)} and above, with ${printAtLeast(confidence)} confidence (${wrong} of ${n} labels)`;
}

function findFailure({ outcome, failure }: LoggedRecord): string | null {
  if (["replied", "decided", "answered"].includes(outcome)) return null;
  return [outcome, failure].filter((failureWord) => failureWord !== null).join(": ");
}

interface LabelFile {
  readonly path: string;
  readonly signal: AbortSignal;
}

/**
 * Returns the totals of a decision log as lines for a terminal, and with a file of labels the wrong answers of
 * services that were asked one after the other.
 *
 * @throws CliError without the file, for one whose lines are no records, or without labels.
 */
export async function printTotals(path: string, labels: LabelFile | null = null): Promise<string> {
  const totals = new Totals();
  if (labels !== null) totals.wrong = await countWrongAnswers(labels.path, path, labels.signal);
  const passedLines = new PassedLines();
  let [lineNumber, isLog] = [0, false];
  for await (const logLine of readLines(path, "the decision log ")) {
    lineNumber += 1;
    const record = findMessage(logLine);
    if (record !== null) totals.add(record);
    if (record !== null || toNote(logLine) !== null) isLog = true;
    else if (logLine.trim() !== "") passedLines.add(lineNumber);
  }
  const passedText = passedLines.describe();
  if (!isLog && passedText !== "") {
    const logAdvice = "Name the file of ROUTER_DECISION_LOG.";
    throw new CliError(printable`${path} has no record of a router. ` + logAdvice);
  }
  const tables = totals
    .tables()
    .map(({ name, rows }) => textTable([[name, ...totals.head()], ...rows]));
  const noneText =
    lineNumber === 0 ? printable`${path} is empty.` : printable`${path} has no message yet.`;
  const parts = [totals.describe(noneText), ...tables, passedText].filter((part) => part !== "");
  return `${parts.join("\n\n")}\n`;
}

/** Returns rows in columns. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((cells) => cells[at]?.length ?? 0)));
  const padCell = (cellText: string, at: number) => cellText.padEnd(widths?.[at] ?? 0);
  return rows.map((rowCells) => `  ${rowCells.map(padCell).join("  ").trimEnd()}`).join("\n");
}
