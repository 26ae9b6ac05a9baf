import type { Recalibration } from "../artifact.ts";
import { hashToShare } from "../math/random.ts";
import { applyRecalibration, toFit, recalibrationsOf } from "../recalibration.ts";
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
export function recalibrateRows(rows: Rows, before: number) {
  const reason = reasonForNone(rows);
  if (reason !== null) return { recalibration: null, heldOut: null, note: reason };
  // Of very many rows two parts are as good as five, and faster.
  const parts = rows.ids.length > 50_000 ? 2 : 5;
  // By the id of each row: the same in any order.
  const folds = rows.ids.map((id) => Math.floor(parts * hashToShare(id)));
  const others = Array.from({ length: parts }, (_, fold) => {
    const trainingRows = folds.map((_, row) => row).filter((row) => folds[row] !== fold);
    return takeRows(rows, trainingRows);
  });
  const hasEnough = rows.ids.length >= LEAST_FOR_ISOTONIC;
  const kinds = recalibrationsOf[rows.form].filter((kind) => hasEnough || kind !== "isotonic");
  const triedItems = kinds.map((kind) => {
    const fittedFits = others.map((other) => toFit(kind, other));
    return {
      kind,
      after: computeLoss(rows, (row) => fittedFits[folds[row] as number] as Recalibration),
    };
  });
  const best = triedItems.reduce((one, other) => (other.after < one.after ? other : one));
  const heldOut = { before, after: best.after };
  if (best.after >= before) {
    const note = "Recalibrating did not lower the log loss on rows it had not seen.";
    return { recalibration: null, heldOut, note };
  }
  return { recalibration: toFit(best.kind, rows), heldOut, note: null };
}

/**
 * Returns the simplest fit to all rows, by their weights: a line on log odds for a probability, a
 * temperature for a distribution; or the reason for none.
 */
export function fitRecalibration(rows: Rows) {
  const note = reasonForNone(rows);
  const [kind] = recalibrationsOf[rows.form];
  const isFitted = note === null && kind !== undefined;
  return { recalibration: isFitted ? toFit(kind, rows) : null, note };
}

function reasonForNone({ form, truth }: Rows): string | null {
  const n = truth.length;
  if (n < LEAST_FITTED) return `Recalibrating takes ${LEAST_FITTED} labels; you have ${n}.`;
  const yes = truth.reduce((sum, one) => sum + one, 0);
  const fewer = { probability: Math.min(yes, n - yes), distribution: Infinity }[form];
  return fewer >= LEAST_FITTED_OF_EACH
    ? null
    : `Recalibrating takes ${LEAST_FITTED_OF_EACH} labels of each side; of one you have ${fewer}.`;
}

/** The mean log loss of rows, each recalibrated by its fit. */
function computeLoss(rows: Rows, fitAt: (row: number) => Recalibration): number {
  const { form, table, truth, weights } = rows;
  const trueSide = (row: number) => {
    const option = truth[row] as number;
    // A view of each row takes three times as long.
    const printedValues: number[] = [];
    for (let i = 0; i < table.width; i += 1) {
      printedValues.push(table.values[row * table.width + i] as number);
    }
    const shares = applyRecalibration(printedValues, fitAt(row));
    // The only probability of a row is that of yes.
    const share = shares[Math.min(option, table.width - 1)] as number;
    return form === "probability" && option === 0 ? 1 - share : share;
  };
  return clippedLogLoss(truth.length, trueSide, { weights }).value;
}
