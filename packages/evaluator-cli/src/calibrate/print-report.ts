import {
  type ActionReport,
  count,
  describeBasis,
  percent,
  type QuestionReport,
} from "evaluator-calibration";
import { toPrintablePath } from "evaluator-cli-kit";
import { type CalibrationReport, nameSource } from "./calibration-report.ts";

/** Returns the report in lines for a terminal: the join first, then each question. */
export function printReport(report: CalibrationReport): string {
  const lines = [
    ...report.join.map(describeJoin),
    ...(report.blankLabels === 0
      ? []
      : [`${count(report.blankLabels)} labels are not filled in yet.`]),
    ...report.notes,
    ...report.reports.flatMap((question) => ["", ...describeQuestion(question, report)]),
  ];
  return `${lines.map(toPrintablePath).join("\n")}\n`;
}

/** Returns what became of a question's labels, in one line. */
export function describeJoin(join: CalibrationReport["join"][number]): string {
  const parts = [
    `${count(join.labelled)} labelled`,
    `${count(join.answered)} answered`,
    `${count(join.joined)} joined`,
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

function describeQuestion(
  question: QuestionReport & { sentence: string },
  report: CalibrationReport,
) {
  const { scores, source, curve, recalibration } = question;
  const { skill, accuracy, constant } = scores;
  const basis = describeBasis(source.basis);
  return [
    question.sentence,
    ...(basis === null ? [] : [`  ${basis}`]),
    `  by                ${nameSource(source)}; labels by ${describeLabelers(question)}`,
    `  skill             ${percent(skill.value)} (${percent(skill.low)} to ${percent(skill.high)}); always "${constant.always}": 0 %`,
    `  accuracy          ${percent(accuracy.value)} (${percent(accuracy.low)} to ${percent(accuracy.high)}); always "${constant.always}": ${percent(constant.accuracy)}`,
    `  Brier score       ${scores.brier.toFixed(4)}${question.kind === "boolean" ? "" : " (0 to 2)"}; base rate: ${constant.brier.toFixed(4)}`,
    `  log loss          ${scores.logLoss.value.toFixed(4)}; base rate: ${constant.logLoss.toFixed(4)}; ${count(scores.logLoss.clipped)} clipped, ${count(scores.logLoss.clippedAndWrong)} of them wrong`,
    ...(curve === null
      ? ["  Fewer than 30 labels: scores only, no curve."]
      : [
          `  miscalibration    ${curve.miscalibration.toFixed(4)}; by chance up to ${curve.miscalibrationByChance.toFixed(4)}`,
          `  ECE (secondary)   ${curve.calibrationError.equalWidth.toFixed(3)}; by chance ${curve.calibrationError.equalWidthByChance.toFixed(3)}`,
        ]),
    ...question.actions.map((action) => `  ${describeAction(action, report)}`),
    ...(question.noPromise === null ? [] : [`  ${question.noPromise}`]),
    ...(recalibration.heldOut === null || recalibration.recalibration === null
      ? []
      : [
          `  recalibrated (${recalibration.recalibration.kind}): log loss on rows it had not seen ${recalibration.heldOut.before.toFixed(4)} -> ${recalibration.heldOut.after.toFixed(4)}`,
        ]),
    ...(recalibration.note === null ? [] : [`  ${recalibration.note}`]),
  ];
}

/** Returns who labelled, in a few words. */
export function describeLabelers({ labelers }: QuestionReport): string {
  return labelers
    .map(({ name, n }) => `${name === "" ? "nobody named" : name} (${count(n)})`)
    .join(", ");
}

/** Returns an action as a reader does it, such as `act on "yes"`. */
export function nameAction(action: ActionReport["action"]): string {
  return action === "top" ? "act on the most probable option" : `act on "${action}"`;
}

/** Returns what may be done without asking, in one sentence. */
export function describeAction(
  { action, promised, coverage, smallest, onAverage, cost }: ActionReport,
  { maxRisk, confidence }: Pick<CalibrationReport, "maxRisk" | "confidence">,
): string {
  const risk = `${Number((100 * maxRisk).toFixed(4))} %`;
  const parts = [
    promised === null
      ? `${nameAction(action)}: no threshold can be promised from these labels${
          smallest === null
            ? ""
            : `; the smallest risk that can be is ${percent(smallest.risk)} at ${smallest.threshold.toFixed(2)}`
        }`
      : `${nameAction(action)} at ${promised.threshold.toFixed(2)} and above: at most ${risk} wrong, with ${percent(confidence)} confidence (${promised.wrong} of ${promised.n} tested labels wrong; ${percent(coverage ?? 0)} of all)`,
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
