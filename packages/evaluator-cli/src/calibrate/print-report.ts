import { count, describeBasis, percent, type QuestionReport } from "evaluator-calibration";
import { toPrintablePath } from "evaluator-cli-kit";
import { describeAction, describeJoin, describeLabelers, nameSource } from "../sentences.ts";
import type { CalibrationReport } from "./calibration-report.ts";

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
