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
const nothing = {
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

type Sums = typeof nothing;

/** US dollars with three digits. */
export const dollars = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  maximumSignificantDigits: 3,
});

/** Prints a sum with how many costs it lacks. */
function printCost(usd: number, unknown: number): string {
  const lacking =
    unknown === 1 ? "one unknown cost" : `${unknown.toLocaleString("en")} unknown costs`;
  return unknown === 0 ? dollars.format(usd) : `${dollars.format(usd)} and ${lacking}`;
}

const noStep = { calls: 0, answers: 0, usd: 0, unpriced: 0 };

/** Totals of messages, also by group. */
export class Totals {
  readonly #all = { ...nothing };
  readonly #groups = Object.entries(groupings).map(([name, of]) => {
    return { name, of, sums: new Map<string, Sums>() };
  });

  /** What each service did in calls in which another one may be asked again. */
  readonly #steps = new Map<string, typeof noStep>();

  /** How many answers of each step are wrong, in one sentence. */
  wrong = "How many are wrong is not known: it needs labels (report --labels FILE).";

  add(record: LoggedRecord): void {
    addTo(this.#all, record);
    for (const [at, step] of (record.evaluation?.steps ?? []).entries()) {
      const { service, model, answers, costUsd } = step;
      const name = `Step ${at + 1}, ${service} ${model}`.trimEnd();
      const sum = this.#steps.get(name) ?? { ...noStep };
      this.#steps.set(name, sum);
      sum.calls += 1;
      sum.answers += answers;
      sum.usd += costUsd ?? 0;
      sum.unpriced += Number(costUsd === null);
    }
    for (const { of, sums } of this.#groups) {
      const group = of(record);
      const sum = sums.get(group ?? "") ?? { ...nothing };
      addTo(sum, record);
      if (group !== null) sums.set(group, sum);
    }
  }

  /** Describes all messages in sentences, or returns the sentence for none. */
  describe(noneText = "No message here matches."): string {
    const { messages, decisionUsd, replyUsd, frontierUsd, compared: comparedCount } = this.#all;
    const { evaluations, evaluationUsd, unpriced: unpricedCount, unpricedEvaluations } = this.#all;
    const days = [...(this.#groups[0]?.sums.keys() ?? [])].toSorted();
    if (days.length === 0) return noneText;
    const paidText = printCost(decisionUsd + replyUsd, unpricedCount - unpricedEvaluations);
    const total = `${messages.toLocaleString("en")} message${messages === 1 ? "" : "s"} from ${days[0]} to ${days.at(-1)} (UTC): ${paidText}.`;
    const usd = savedUsd(this.#all);
    const share = frontierUsd > 0 ? `, ${percent(usd / frontierUsd)}` : "";
    const savedText = `${usd < 0 ? "Lost" : "Saved"} against frontier only, net of the decisions: ${dollars.format(Math.abs(usd))}${share}.`;
    const calls = `${evaluations.toLocaleString("en")} call${evaluations === 1 ? "" : "s"} with own questions: ${printCost(evaluationUsd, unpricedEvaluations)}.`;
    const own = [calls, ...this.#describeSteps()].join(" ");
    if (messages === 0 && evaluations > 0) return own;
    const all = evaluations === 0 ? total : `${total} ${own}`;
    return `${all} ${comparedCount > 0 ? savedText : "The savings are unknown: no reply has a known price."}`;
  }

  #describeSteps(): string[] {
    const steps = [...this.#steps].toSorted(([one], [other]) => one.localeCompare(other));
    const lines = steps.map(([name, { calls, answers, usd, unpriced: unpricedCount }]) => {
      const gave = `${answers.toLocaleString("en")} answer${answers === 1 ? "" : "s"}`;
      return `${name}: ${gave} in ${calls.toLocaleString("en")} call${calls === 1 ? "" : "s"}, ${printCost(usd, unpricedCount)}.`;
    });
    return lines.length === 0 ? [] : [...lines, this.wrong];
  }

  /** The headings of a group's table after its name. */
  head(): string[] {
    const own = this.#all.evaluations > 0 ? ["own questions", "their cost"] : [];
    return ["messages", "decisions", "replies", ...own, "without a price", "saved"];
  }

  /** Returns a table for each way of grouping that has groups; a row begins with its group's name. */
  tables() {
    const places = tierNames.map(String);
    const hasOwn = this.#all.evaluations > 0;
    const tables = this.#groups.map(({ name, sums }) => {
      const rows = Array.from(sums, ([group, sum]) => [group, ...listCells(sum, hasOwn)] as const);
      return { name, rows: rows.toSorted(([a], [b]) => places.indexOf(a) - places.indexOf(b)) };
    });
    return tables.filter(({ rows }) => rows.length > 0);
  }
}

/** The figures of calls with own questions, in columns that a log without them lacks. */
function ownCells({ evaluations, evaluationUsd }: Sums): string[] {
  return [evaluations.toLocaleString("en"), dollars.format(evaluationUsd)];
}

function listCells(sum: Sums, hasOwn: boolean): string[] {
  return [
    sum.messages.toLocaleString("en"),
    dollars.format(sum.decisionUsd),
    dollars.format(sum.replyUsd),
    ...(hasOwn ? ownCells(sum) : []),
    String(sum.unpriced),
    sum.compared === 0 ? "–" : dollars.format(savedUsd(sum)),
  ];
}

/** Returns the savings against the frontier tier, net of the decisions. */
function savedUsd({ frontierUsd, comparedUsd, decisionUsd }: Sums): number {
  return frontierUsd - comparedUsd - decisionUsd;
}

function addTo(sums: Sums, record: LoggedRecord): void {
  const { decisionCostUsd, replyCostUsd, frontierCostUsd, tierChosen, outputTokens } = record;
  const { evaluation } = record;
  if (evaluation !== null) {
    sums.evaluations += 1;
    sums.evaluationUsd += evaluation.usd ?? 0;
    sums.unpriced += Number(evaluation.usd === null);
    sums.unpricedEvaluations += Number(evaluation.usd === null);
    return;
  }
  if (record.key !== blindName) sums.messages += 1; // a comparison only costs
  sums.unpriced += Number(tierChosen !== null && decisionCostUsd === null);
  sums.unpriced += Number(outputTokens !== null && replyCostUsd === null);
  sums.decisionUsd += decisionCostUsd ?? 0;
  if (replyCostUsd === null) return;
  sums.replyUsd += replyCostUsd;
  if (frontierCostUsd === null) return;
  sums.compared += 1;
  sums.comparedUsd += replyCostUsd;
  sums.frontierUsd += frontierCostUsd;
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
  return [outcome, failure].filter((word) => word !== null).join(": ");
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
  let [number, isLog] = [0, false];
  for await (const line of readLines(path, "the decision log ")) {
    number += 1;
    const record = findMessage(line);
    if (record !== null) totals.add(record);
    if (record !== null || toNote(line) !== null) isLog = true;
    else if (line.trim() !== "") passedLines.add(number);
  }
  const passedText = passedLines.describe();
  if (!isLog && passedText !== "") {
    const advice = "Name the file of ROUTER_DECISION_LOG.";
    throw new CliError(printable`${path} has no record of a router. ` + advice);
  }
  const tables = totals
    .tables()
    .map(({ name, rows }) => textTable([[name, ...totals.head()], ...rows]));
  const noneText =
    number === 0 ? printable`${path} is empty.` : printable`${path} has no message yet.`;
  const parts = [totals.describe(noneText), ...tables, passedText].filter((part) => part !== "");
  return `${parts.join("\n\n")}\n`;
}

/** Returns rows in columns. */
export function textTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((cells) => cells[at]?.length ?? 0)));
  const print = (cell: string, at: number) => cell.padEnd(widths?.[at] ?? 0);
  return rows.map((cells) => `  ${cells.map(print).join("  ").trimEnd()}`).join("\n");
}
