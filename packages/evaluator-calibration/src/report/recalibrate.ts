import type { Recalibration } from "../artifact.ts";
import { hashToShare } from "../math/random.ts";
import { applyRecalibration, recalibrationsOf } from "../recalibration.ts";
import { toFit } from "./recalibration-fits.ts";
import { clippedLogLoss } from "../scores/probability-scores.ts";
import { type Rows, takeRows } from "./labelled-rows.ts";

// All chosen, not measured: held-out rows show whether a fit helps, whatever their number is.
const LEAST_FITTED = 100;
const LEAST_FITTED_OF_EACH = 20;
const LEAST_FOR_ISOTONIC = 1000;

/**
 * Returns the recalibration that helps most on held-out rows, if one does; the mean log loss on those rows
 * before (as printed) and after, if there is a fit; and the reason for no fit.
 */
export function recalibrateRows(labelledRows: Rows, lossBefore: number) {
  const noFitReason = reasonForNone(labelledRows);
  if (noFitReason !== null) return { recalibration: null, heldOut: null, note: noFitReason };
  // Of very many rows two parts are as good as five, and faster.
  const foldCount = labelledRows.ids.length > 50_000 ? 2 : 5;
  // By the id of each row: the same in any order.
  const rowFolds = labelledRows.ids.map((recordId) =>
    Math.floor(foldCount * hashToShare(recordId)),
  );
  const trainingParts = Array.from({ length: foldCount }, (_, foldIndex) => {
    const trainingRows = rowFolds
      .map((_, rowIndex) => rowIndex)
      .filter((rowIndex) => rowFolds[rowIndex] !== foldIndex);
    return takeRows(labelledRows, trainingRows);
  });
  const hasEnough = labelledRows.ids.length >= LEAST_FOR_ISOTONIC;
  const fitKinds = recalibrationsOf[labelledRows.form].filter(
    (fitKind) => hasEnough || fitKind !== "isotonic",
  );
  const triedItems = fitKinds.map((fitKind) => {
    const fittedFits = trainingParts.map((trainingPart) => toFit(fitKind, trainingPart));
    return {
      kind: fitKind,
      after: computeLoss(
        labelledRows,
        (rowIndex) => fittedFits[rowFolds[rowIndex] as number] as Recalibration,
      ),
    };
  });
  const bestFit = triedItems.reduce((firstFit, secondFit) =>
    secondFit.after < firstFit.after ? secondFit : firstFit,
  );
  const heldOut = { before: lossBefore, after: bestFit.after };
  if (bestFit.after >= lossBefore) {
    const noGainNote = "Recalibrating did not lower the log loss on unseen rows.";
    return { recalibration: null, heldOut, note: noGainNote };
  }
  return { recalibration: toFit(bestFit.kind, labelledRows), heldOut, note: null };
}

/**
 * Returns the simplest fit to all rows, by their weights: a line on log odds for a probability, a
 * temperature for a distribution; or the reason for none.
 */
export function fitRecalibration(labelledRows: Rows) {
  const noFitReason = reasonForNone(labelledRows);
  const [fitKind] = recalibrationsOf[labelledRows.form];
  const isFitted = noFitReason === null && fitKind !== undefined;
  return { recalibration: isFitted ? toFit(fitKind, labelledRows) : null, note: noFitReason };
}

function reasonForNone({ form, truth }: Rows): string | null {
  const labelCount = truth.length;
  if (labelCount < LEAST_FITTED)
    return `Recalibrating takes ${LEAST_FITTED} labels; you have ${labelCount}.`;
  const yesCount = truth.reduce((runningSum, truthValue) => runningSum + truthValue, 0);
  const fewerCount = {
    probability: Math.min(yesCount, labelCount - yesCount),
    distribution: Infinity,
  }[form];
  return fewerCount >= LEAST_FITTED_OF_EACH
    ? null
    : `Recalibrating takes ${LEAST_FITTED_OF_EACH} labels of each side; one has ${fewerCount}.`;
}

/** The mean log loss of rows, each recalibrated by its fit. */
function computeLoss(labelledRows: Rows, fitAtRow: (rowIndex: number) => Recalibration): number {
  const { form, table, truth, weights } = labelledRows;
  const trueSide = (rowIndex: number) => {
    const trueOption = truth[rowIndex] as number;
    // A view of each row takes three times as long.
    const printedValues: number[] = [];
    for (let optionIndex = 0; optionIndex < table.width; optionIndex += 1) {
      printedValues.push(table.values[rowIndex * table.width + optionIndex] as number);
    }
    const fittedShares = applyRecalibration(printedValues, fitAtRow(rowIndex));
    // The only probability of a row is that of yes.
    const trueShare = fittedShares[Math.min(trueOption, table.width - 1)] as number;
    return form === "probability" && trueOption === 0 ? 1 - trueShare : trueShare;
  };
  return clippedLogLoss(truth.length, trueSide, { weights }).value;
}
