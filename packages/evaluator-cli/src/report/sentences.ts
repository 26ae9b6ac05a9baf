import { nameModel } from "evaluator-calibration";
import type { ThresholdCheck } from "evaluator-calibration/statistics";
import {
  type ActionReport,
  type Basis,
  type Estimate,
  LEAST_JUDGED,
  type QuestionReport,
} from "evaluator-calibration/reports";
import { describePromisedRisk, printCount, printCounted } from "evaluator-runs/source";
import { percent, percentRange, printAtLeast, printAtMost, printThreshold } from "evaluator-kit";
import { describeAgreement, nameLabeler, withRange } from "./labeler-sentences.ts";

const bases: Record<Basis, { readonly name: string | null; readonly warning: string | null }> = {
  model: { name: null, warning: null },
  recorded: {
    name: "recorded",
    warning: "These answers are recordings, not a model's.",
  },
  rule: {
    name: "rules",
    warning: "These answers come from written rules, not from a model.",
  },
  lexical: {
    name: "matched words",
    warning: "These answers come from matching words, not from a model.",
  },
};

/** Returns a warning about answers that are not a model's, or null. */
export function describeBasis(basis: Basis): string | null {
  return bases[basis].warning;
}

/** Returns a source in a few words, such as `local/lexical-1 (matched words)`. */
export function nameSource({ modelId, basis, questionHash }: QuestionReport["source"]): string {
  const questionsName = questionHash === null ? null : `questions ${questionHash.slice(0, 6)}`;
  const details = [bases[basis].name, questionsName].filter((part) => part !== null);
  return nameModel(modelId) + (details.length === 0 ? "" : ` (${details.join(", ")})`);
}

/** Returns the worth of a question's answers, and the permitted acts. */
export function summarize(report: QuestionReport): string {
  return `${describeWorth(report)}${describePermission(report)}`;
}

/** Returns the worth of a question's answers, and whether they are calibrated. */
export function describeWorth(report: QuestionReport): string {
  return `${toWorthText(report)}${describeCalibration(report)}.`;
}

function toWorthText({ question, n, verdict, orderPValue, scores }: QuestionReport): string {
  const { skill, constant } = scores;
  const labelledText = `your ${printCounted(n, "labelled record")}`;
  const quotedName = `\`${question}\``;
  if (n === 0) return `No label of ${quotedName} is of a random draw, so its worth is unknown`;
  if (verdict === "one truth only") {
    return `${quotedName} has only one truth (${constant.always}) in ${labelledText}, which shows no worth`;
  }
  if (verdict === "useful after recalibration") {
    const orderText = `sorts them better than chance (AUC ${withRange(scores.auc, orderPValue)})`;
    return `On ${labelledText} ${quotedName} ${orderText}, but its probabilities are no better than the base rate: recalibrate it`;
  }
  const far = `${quotedName} is worthless as far as ${labelledText} show`;
  if (skill.high <= 0)
    return `On ${labelledText} ${quotedName} is worthless: always giving the base rate does better`;
  if (skill.value <= 0) return `${far}: always giving the base rate does as well or better`;
  const rangeText = Number.isNaN(skill.low)
    ? ""
    : `between ${percentRange(skill).replace(" to ", " and ")}`;
  const worthText = `${percent(skill)} of the way from guessing to knowing`;
  const spreadText = n < LEAST_JUDGED && rangeText !== "" ? ` (${rangeText})` : "";
  if (verdict === "useful") {
    const shownText = Number.isNaN(skill.low)
      ? "more than the base rate (too few of the rarer truth show how much)"
      : `${worthText}${spreadText}`;
    return `On ${labelledText} ${quotedName} is worth ${shownText}`;
  }
  return `${far}: ${worthText}, ${rangeText}${rangeText && ", "}which is possible by luck`;
}

/** Returns the share of "yes" in all records, with its interval. */
export function describeYes({ yes }: QuestionReport): string {
  if (yes === null) return "–";
  return `${percent(yes)} (${percentRange(yes)}) of ${printCounted(yes.records, "record")}`;
}

/** Returns an interval, or the reason for none. */
export function describeRange(range: Estimate): string {
  return Number.isNaN(range.low)
    ? "too few of the rarer truth for an interval"
    : percentRange(range);
}

function describeCalibration({ n, curve, verdict }: QuestionReport): string {
  if (n === 0) return "";
  if (curve === null) return `; fewer than ${LEAST_JUDGED} labels show no curve (${n})`;
  if (curve.isCalibrated) {
    return verdict === "useful"
      ? ", and its probabilities hold on these labels"
      : "; being right on average does not make it useful";
  }
  const [worstRange] = curve.wrongRanges;
  if (worstRange === undefined) return ", and its probabilities do not hold";
  const [fromText, toText] = [printThreshold(worstRange.from), printThreshold(worstRange.to)];
  const rangeText = fromText === toText ? `at ${fromText}` : `between ${fromText} and ${toText}`;
  return `, and its probabilities are ${worstRange.is} ${rangeText}`;
}

function describePermission(report: QuestionReport): string {
  const { actions, noPromise } = report;
  const constant = describeConstant(report);
  const promises = actions.flatMap((action) => action.promised ?? []);
  const [first] = promises;
  if (first === undefined) {
    if (noPromise !== null) return " These labels promise nothing.";
    if (constant !== null) return ` A${constant.slice(1)}`;
    return actions.length === 0 ? "" : " These labels promise no threshold yet.";
  }
  const exact = promises.flatMap(({ these }) => these ?? []);
  if (exact.length === promises.length) {
    const risks = promises.map(
      (each) => `${nameThreshold(each)}: ${describePromisedRisk(each.maxRisk, each.these)} wrong`,
    );
    return ` You may ${risks.join(", and ")}, with ${printAtLeast(first.confidence)} confidence.`;
  }
  const actTexts = promises.map(nameThreshold);
  return ` You may ${actTexts.join(", and ")}, without asking: at most ${printAtMost(first.maxRisk)} of that is wrong, with ${printAtLeast(first.confidence)} confidence.`;
}

/** Returns the cost of always giving the commonest answer, if the answers are not shown to be better. */
function describeConstant({ n, verdict, scores }: QuestionReport): string | null {
  if (verdict === "useful" || n === 0) return null;
  const { always, wrong } = scores.constant;
  const comparisonText =
    verdict === "worthless"
      ? "the answers add nothing to that"
      : "an act that it keeps as well is not promised";
  return `always "${always}" would be wrong in ${percent(wrong, 1)} (${percentRange(wrong, 1)}); ${comparisonText}.`;
}

/** So many labelers are listed by name. */
const MOST_NAMES = 10;

/** Returns the words of a question's report that the page and the terminal share. */
export function listReportWords(
  report: QuestionReport,
  bound: {
    readonly maxRisk: number;
    readonly confidence: number;
    /** Whether plans of promises have the whole level. */
    readonly isLevelSpent: boolean;
  },
) {
  const { source, labelers, tpr, tnr } = report;
  return {
    source: nameSource(source),
    /** The labelers, each with a count. */
    labelers: [
      ...labelers
        .slice(0, MOST_NAMES)
        .map(({ name, n }) => `${nameLabeler(name)} (${printCount(n)})`),
      ...(labelers.length > MOST_NAMES ? [`${printCount(labelers.length - MOST_NAMES)} more`] : []),
    ].join(", "),
    /** How far labelers disagree. */
    labels: describeAgreement(report),
    /** The rates of right yes and no at 0.5; null without yes and no. */
    rates:
      tpr && tnr
        ? `yes to ${percent(tpr)} of all yes (TPR; ${percentRange(tpr)}), no to ${percent(tnr)} of all no (TNR; ${percentRange(tnr)})`
        : null,
    /** The permitted acts, one sentence each, or the reason for none. */
    permissions: describePermissions(report, bound),
  };
}

type Bound = Parameters<typeof listReportWords>[1];

function describePermissions(report: QuestionReport, bound: Bound): string[] {
  const { actions, noPromise, question } = report;
  const refusedText =
    noPromise === null ? describeConstant(report) : "nothing is promised from these labels.";
  const actLines = actions
    .filter(
      ({ drawn: drawnSample, promised: promisedThreshold }) =>
        drawnSample !== null || promisedThreshold !== null || refusedText === null,
    )
    .map((action) => describeAction(action, question, bound));
  return refusedText === null || (noPromise === null && actions.length === 0)
    ? actLines
    : [...actLines, refusedText];
}

function describeAction(report: ActionReport, question: string, bound: Bound) {
  const {
    action,
    promised: promisedThreshold,
    smallest,
    found: foundEstimate,
    passed: passedEstimate,
    actedOnNo,
    onAverage,
    cost,
  } = report;
  const riskText = printAtMost(bound.maxRisk);
  const refusedTexts = [
    `${nameAction(action)}: ${describeRefusal(report, question, bound)}`,
    // Rounded up: 5.02 % is not the 5 % that was refused.
    smallest &&
      `the smallest risk that can be promised is ${printAtMost(Math.ceil(1000 * smallest.risk - 1e-6) / 1000)} at ${printThreshold(smallest.threshold)}`,
  ];
  const grantedTexts = promisedThreshold && [
    `${nameThreshold(promisedThreshold)}: ${describePromisedRisk(promisedThreshold.maxRisk, promisedThreshold.these)} wrong, with ${printAtLeast(bound.confidence)} confidence`,
    foundEstimate && `finds ${percent(foundEstimate)} of all yes (${percentRange(foundEstimate)})`,
    passedEstimate &&
      `lets ${percent(passedEstimate)} of all yes through (${percentRange(passedEstimate)})`,
    actedOnNo && `acts on ${percent(actedOnNo)} of all no (${percentRange(actedOnNo)})`,
    `acts on ${percent(report.coverage ?? 0)} of all; ${printCount(promisedThreshold.wrong)} of ${printCounted(promisedThreshold.n, "tested label")} wrong (${percent(promisedThreshold.wrong / promisedThreshold.n)})`,
  ];
  const withdrawn = report.drawn?.withdrawn ?? null;
  const parts = [
    ...(grantedTexts ?? refusedTexts),
    grantedTexts && withdrawn && `the promise at ${describeWithdrawal(withdrawn)}`,
    onAverage === null
      ? null
      : `on average, as a share of all records: wrong acts stay under ${riskText} at ${printThreshold(onAverage)}`,
    cost && describeCost(cost),
  ];
  return `${parts.filter((part) => part !== null).join("; ")}.`;
}

/** Returns why a threshold of an action is not promised, and the next step. */
function describeRefusal(
  { action, drawn: drawnSample }: ActionReport,
  question: string,
  { isLevelSpent }: Bound,
) {
  if (drawnSample?.withdrawn) return `the promise at ${describeWithdrawal(drawnSample.withdrawn)}`;
  if (drawnSample !== null) {
    return `no threshold can be promised yet; ${printCount(drawnSample.wrong)} of ${printCounted(drawnSample.labelled, "label")} of its plan wrong; go on with label --for-promise ${question}=${action}`;
  }
  return isLevelSpent
    ? `its plan has other acts; test it alone with --action ${question}=${action}`
    : `no threshold can be promised; try label --for-promise ${question}=${action}`;
}

/** Describes a promise that the labels after it contradict. */
function describeWithdrawal({
  threshold,
  since,
  wrong,
  n,
}: NonNullable<NonNullable<ActionReport["drawn"]>["withdrawn"]>): string {
  return `${printThreshold(threshold)} is withdrawn since label ${printCount(since)}; ${printCount(wrong)} of ${printCounted(n, "label")} wrong (${percent(wrong / n)})`;
}

function describeCost({ threshold, cost }: NonNullable<ActionReport["cost"]>): string {
  const actText = threshold === null ? "never acting" : `acting at ${printThreshold(threshold)}`;
  return `${actText} costs least (about ${cost.toFixed(3)} a record, on other labels)`;
}

/** Returns an act and its threshold, such as `act on "no" at 0.97 and above`. */
export function nameThreshold({ action, threshold }: ThresholdCheck["locked"]): string {
  return `${nameAction(action)} at ${printThreshold(threshold)} and above`;
}

function nameAction(action: ActionReport["action"]): string {
  return action === "top" ? "act on the likeliest option" : `act on "${action}"`;
}

/** Returns the counts of a question's labels, in one line. */
export function describeJoin(question: string, join: QuestionReport["counts"]): string {
  const counts = {
    skipped: join.skipped - join.tied,
    "on which labelers tie": join.tied,
    "without an answer": join.labelledWithoutAnswer,
    "answered without a label": join.answeredWithoutLabel,
    repeated: join.repeated,
    unknown: join.unknown,
    "drawn for a promise": join.drawn,
  };
  const parts = Object.entries(counts).flatMap(([name, n]) =>
    n === 0 ? [] : [`${printCount(n)} ${name}`],
  );
  const joinedText = `${printCount(join.labelled)} labelled, ${printCount(join.joined)} joined`;
  return `${question}: ${[joinedText, ...parts].join(", ")}.`;
}

/** Returns the number of rows of a sheet without a truth, in one sentence. */
export function describeBlank(blankRows: number): string {
  return `Not filled in yet: ${printCounted(blankRows, "label")}.`;
}
