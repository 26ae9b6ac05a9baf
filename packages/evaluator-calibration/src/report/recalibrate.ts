import { DEFAULT_SEED, hashToShare } from "../math/random.ts";
import { applyLogistic, fitLogistic } from "../recalibration/logistic.ts";
import {
  applyIsotonic,
  fitIsotonic,
  type Recalibration,
  recalibrationsOf,
} from "../recalibration/recalibration.ts";
import {
  fitTemperature,
  shareAtTemperature,
  TEMPERATURE_LIMITS,
} from "../recalibration/temperature.ts";
import { clippedLogLoss } from "../scores/probability-scores.ts";
import { indexesWhere, type LabelledRows, probabilityOf, takeRows } from "./labelled-rows.ts";

/** The effect of recalibrating on rows that the fit did not see. */
export interface RecalibrationReport {
  /** The fit to all rows, or null if they are too few, or it did not help. */
  readonly recalibration: Recalibration | null;
  /** Mean log loss, cross-fitted; null without a fit. */
  readonly heldOut: { readonly before: number; readonly after: number } | null;
  /** The reason for no fit, or a warning about it. */
  readonly note: string | null;
}

// All chosen, not measured: held-out rows show whether a fit helps, whatever their number is.
const LEAST_FITTED = 100;
const LEAST_FITTED_OF_EACH = 20;
const LEAST_FOR_ISOTONIC = 1000;

/** Returns the recalibration that helps most on held-out rows, if one does. */
export function recalibrateRows(rows: LabelledRows): RecalibrationReport {
  const reason = reasonForNone(rows);
  if (reason !== null) return { recalibration: null, heldOut: null, note: reason };
  // Of very many rows two parts are as good as five, and faster.
  const parts = rows.ids.length > 50_000 ? 2 : 5;
  const folds = foldsOf(rows, parts);
  const others = Array.from({ length: parts }, (_, fold) =>
    takeRows(
      rows,
      indexesWhere(folds, (one) => one !== fold),
    ),
  );
  const hasEnough = rows.ids.length >= LEAST_FOR_ISOTONIC;
  const kinds = recalibrationsOf[rows.form].filter((kind) => hasEnough || kind !== "isotonic");
  const tried = kinds.map((kind) => {
    const fitted = others.map(fits[kind]);
    return { kind, after: lossOf(rows, (row) => fitted[folds[row] as number] ?? null) };
  });
  const best = tried.reduce((one, other) => (other.after < one.after ? other : one));
  const heldOut = { before: lossOf(rows, () => null), after: best.after };
  if (heldOut.after >= heldOut.before) {
    const note = "Recalibrating did not lower the log loss on rows it had not seen.";
    return { recalibration: null, heldOut, note };
  }
  const recalibration = fits[best.kind](rows);
  return { recalibration, heldOut, note: noteOf(recalibration) };
}

/**
 * Returns the simplest fit to all rows, by their weights: a line on log odds for a probability, a
 * temperature for a distribution; or the reason for none.
 */
export function fitRecalibration(
  rows: LabelledRows,
): Pick<RecalibrationReport, "recalibration" | "note"> {
  const note = reasonForNone(rows);
  const [kind] = recalibrationsOf[rows.form];
  const isFitted = note === null && kind !== undefined;
  return { recalibration: isFitted ? fits[kind](rows) : null, note };
}

function reasonForNone({ form, truth }: LabelledRows): string | null {
  const n = truth.length;
  if (n < LEAST_FITTED) return `Recalibrating takes ${LEAST_FITTED} labels; there are ${n}.`;
  const yes = truth.reduce((sum, one) => sum + one, 0);
  const fewer = { probability: Math.min(yes, n - yes), distribution: Infinity }[form];
  return fewer >= LEAST_FITTED_OF_EACH
    ? null
    : `Recalibrating takes ${LEAST_FITTED_OF_EACH} labels of each side; of one there are ${fewer}.`;
}

function noteOf(recalibration: Recalibration): string | null {
  if (recalibration.kind !== "temperature") return null;
  const { temperature } = recalibration.parameters;
  const isAtLimit = TEMPERATURE_LIMITS.some((limit) => Math.abs(limit - temperature) < 1e-9);
  return isAtLimit ? `The temperature ended at its limit, ${temperature}: do not trust it.` : null;
}

/** The part of each row, by its id: the same in any order. */
function foldsOf({ ids }: LabelledRows, parts: number): Uint8Array {
  const folds = new Uint8Array(ids.length);
  for (const [row, id] of ids.entries()) {
    folds[row] = Math.floor(parts * hashToShare(id, DEFAULT_SEED));
  }
  return folds;
}

type Fit = (rows: LabelledRows) => Recalibration;

const fits: Record<Recalibration["kind"], Fit> = {
  temperature: ({ table, truth, weights }) => {
    const temperature = fitTemperature(table, truth, { weights });
    return { kind: "temperature", parameters: { temperature } };
  },
  logistic: ({ p, cameTrue, weights }) => {
    return { kind: "logistic", parameters: fitLogistic(p, cameTrue, { weights }) };
  },
  isotonic: ({ p, cameTrue, weights }) => {
    return { kind: "isotonic", parameters: fitIsotonic(p, cameTrue, { weights }) };
  },
};

/** The mean log loss of rows, each recalibrated by its fit or as printed. */
function lossOf(rows: LabelledRows, fitOf: (row: number) => Recalibration | null): number {
  const { table, truth, p, weights } = rows;
  const shareOf = (row: number) => {
    const fit = fitOf(row);
    const option = truth[row] as number;
    if (fit === null) return probabilityOf(rows, row, option);
    if (fit.kind === "temperature") {
      return shareAtTemperature(table, row * table.width + option, fit.parameters.temperature);
    }
    const printed = p[row] as number;
    const yes =
      fit.kind === "logistic"
        ? applyLogistic(printed, fit.parameters)
        : applyIsotonic(printed, fit.parameters);
    return option === 1 ? yes : 1 - yes;
  };
  return clippedLogLoss(truth.length, shareOf, { weights }).value;
}
