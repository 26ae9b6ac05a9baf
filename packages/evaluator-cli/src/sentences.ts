import {
  type ActionReport,
  type JoinCounts,
  type QuestionReport,
  type ThresholdCheck,
} from "evaluator-calibration";
import { printable } from "evaluator-kit";
import { count, describeConstant, percent, range } from "./report-sentence.ts";

/** Returns a source in a few words, such as `local/lexical-1 (matched words)`. */
export function nameSource({ modelId, basis, questionHash }: QuestionReport["source"]): string {
  const names = { model: null, recorded: "recorded", rule: "rules", lexical: "matched words" };
  const name = modelId ?? "a model that is not named";
  const asked = questionHash === null ? null : `questions ${questionHash.slice(0, 6)}`;
  const more = [names[basis], asked].filter((part) => part !== null);
  return more.length === 0 ? name : `${name} (${more.join(", ")})`;
}

/** Returns what became of a question's labels, in one line. */
export function describeJoin(join: { readonly question: string } & JoinCounts): string {
  const parts = [
    `${count(join.labelled)} labelled`,
    `${count(join.answered)} answered`,
    `${count(join.joined)} joined`,
    `${count(join.skipped)} skipped`,
    `${count(join.labelledWithoutAnswer)} labelled without answer`,
    `${count(join.answeredWithoutLabel)} answered without label`,
    `${count(join.repeated)} repeated`,
    ...(join.unknown === 0 ? [] : [`${count(join.unknown)} unknown`]),
  ];
  const missing = join.labelledWithoutAnswer / Math.max(1, join.labelled);
  const share =
    missing === 0
      ? ""
      : ` Failed calls are ${percent(missing)} of the labels; they are not counted as wrong, and seldom random.`;
  return `${join.question}: ${parts.join(", ")}.${share}`;
}

/** Returns who labelled, in a few words. */
export function describeLabelers({ labelers }: QuestionReport): string {
  return labelers.map(({ name, n }) => `${nameLabeler(name)} (${count(n)})`).join(", ");
}

/** Returns what is to be known of the labels: whether labelers agree, and whether labels are independent. */
export function describeLabels({ agreements, clusters }: QuestionReport): string[] {
  const lines = agreements.map(({ labelers, n, disagree, kappa }) => {
    const who = agreements.length === 1 ? "two labelers" : labelers.map(nameLabeler).join(" and ");
    const beyond = Number.isNaN(kappa) ? "" : ` (kappa ${kappa.toFixed(2)})`;
    return `${who} disagree on ${percent(disagree)} of ${count(n)} records${beyond}`;
  });
  if (clusters === null) return lines;
  const from = `your ${count(clusters.labels)} labels come from ${count(clusters.n)} groups`;
  return [...lines, `${from}; labels of one group are not independent (--one-per group)`];
}

function nameLabeler(name: string): string {
  return name === "" ? "nobody named" : name;
}

/** An action as a reader does it, such as `act on "yes"`. */
function nameAction(action: ActionReport["action"]): string {
  return action === "top" ? "act on the most probable option" : `act on "${action}"`;
}

/** Returns what may be done without asking, one sentence an action, or why nothing may. */
export function describePermissions(
  report: QuestionReport,
  bound: { readonly maxRisk: number; readonly confidence: number },
): string[] {
  if (report.noPromise !== null) return [report.noPromise];
  if (report.actions.length === 0) return [];
  const constant = describeConstant(report);
  return constant === null
    ? report.actions.map((action) => describeAction(action, bound))
    : [constant];
}

/** Returns how many of all yes and of all no are answered so at 0.5; null without yes and no. */
export function describeRates({ tpr, tnr }: QuestionReport): string | null {
  if (tpr === null || tnr === null) return null;
  return `yes to ${percent(tpr.value)} of all yes (TPR; ${range(tpr)}), no to ${percent(tnr.value)} of all no (TNR; ${range(tnr)})`;
}

function describeAction(
  { action, promised, coverage, found, passed, smallest, onAverage, cost }: ActionReport,
  { maxRisk, confidence }: { readonly maxRisk: number; readonly confidence: number },
): string {
  const risk = `${Number((100 * maxRisk).toFixed(4))} %`;
  const parts = [
    ...(promised === null
      ? [
          `${nameAction(action)}: no threshold can be promised from these labels`,
          // Rounded up: 5.02 % is not the 5 % that was refused.
          ...(smallest === null
            ? []
            : [
                `the smallest risk that can be is ${Math.ceil(1000 * smallest.risk) / 10} % at ${smallest.threshold.toFixed(2)}`,
              ]),
        ]
      : [
          `${nameAction(action)} at ${promised.threshold.toFixed(2)} and above: at most ${risk} wrong, with ${percent(confidence)} confidence`,
          ...(found === null ? [] : [`finds ${percent(found.value)} of all yes (${range(found)})`]),
          ...(passed === null
            ? []
            : [`lets ${percent(passed.value)} of all yes through (${range(passed)})`]),
          `acts on ${percent(coverage ?? 0)} of all; ${count(promised.wrong)} of ${count(promised.n)} tested labels wrong (${percent(promised.wrong / promised.n)})`,
        ]),
    ...(onAverage === null
      ? []
      : [
          `on average only, and as a share of all records: wrong acts stay under ${risk} at ${onAverage.toFixed(2)}`,
        ]),
    ...(cost === null
      ? []
      : [
          cost.threshold === null
            ? `never acting costs least (${cost.cost.toFixed(3)} a record)`
            : `acting at ${cost.threshold.toFixed(2)} costs least (${cost.cost.toFixed(3)} a record; were the probabilities true it would be ${cost.theory.toFixed(2)})`,
        ]),
  ];
  return `${parts.join("; ")}.`;
}

/** Returns a threshold and how it did, in one line. */
export function describeCheck({ locked, n, wrong, low, high, verdict }: ThresholdCheck): string {
  const { question, action, threshold, maxRisk } = locked;
  const what = `${question}: ${nameAction(action)} at ${threshold.toFixed(2)} and above, at most ${percent(maxRisk)} wrong`;
  const seen = `${wrong} of ${n} wrong (${percent(low)} to ${percent(high)})`;
  return printable`${verdict.padEnd(17)}  ${what}: ${seen}`;
}
