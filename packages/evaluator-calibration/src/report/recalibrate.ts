import type { Recalibration } from "../artifact/artifact.ts";
import { DEFAULT_SEED, hashToShare } from "../math/random.ts";
import { applyIsotonic, fitIsotonic } from "../recalibration/isotonic.ts";
import { applyLogistic, fitLogistic } from "../recalibration/logistic.ts";
import {
  fitTemperature,
  shareAtTemperature,
  TEMPERATURE_LIMITS,
} from "../recalibration/temperature.ts";
import { clippedLogLoss } from "../scores/boolean-scores.ts";
import { indexesWhere, type LabelledRows, probabilityOf, takeRows } from "./labelled-rows.ts";

/** What recalibrating comes to on rows that the fit did not see. */
export interface RecalibrationReport {
  /** The fit to all rows, or null where there are too few, or it did not help. */
  readonly recalibration: Recalibration | null;
  /** Mean log loss, cross-fitted; null where nothing was fitted. */
  readonly heldOut: { readonly before: number; readonly after: number } | null;
  /** Why there is none, or what to know about it. */
  readonly note: string | null;
}

// All three chosen, not measured; that a fit helps is shown on rows it did not see, whatever their number.
/** The fewest labels that a recalibration is fitted to. */
export const LEAST_FITTED = 100;
/** The fewest labels of each side that a recalibration of a yes/no question is fitted to. */
export const LEAST_FITTED_OF_EACH = 20;
const LEAST_FOR_ISOTONIC = 1000;

/** Returns the recalibration that helps most on held-out rows, where one does. */
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
  const kinds: Recalibration["kind"][] =
    rows.kind !== "boolean"
      ? ["temperature"]
      : rows.truth.length < LEAST_FOR_ISOTONIC
        ? ["logistic"]
        : ["logistic", "isotonic"];
  const tried = kinds.map((kind) => {
    const fits = others.map((other) => fitRows(other, kind));
    return { kind, after: lossOf(rows, (row) => fits[folds[row] as number] ?? null) };
  });
  const best = tried.reduce((one, other) => (other.after < one.after ? other : one));
  const heldOut = { before: lossOf(rows, () => null), after: best.after };
  if (heldOut.after >= heldOut.before) {
    const note = "Recalibrating did not lower the log loss on rows it had not seen.";
    return { recalibration: null, heldOut, note };
  }
  const recalibration = fitRows(rows, best.kind);
  return { recalibration, heldOut, note: noteOf(recalibration) };
}

/** Returns the fit to all rows, by their weights: a line on log odds, or the temperature of choices and scores. */
export function fitRecalibration(rows: LabelledRows): Recalibration {
  return fitRows(rows, rows.kind === "boolean" ? "logistic" : "temperature");
}

function reasonForNone({ kind, truth }: LabelledRows): string | null {
  const n = truth.length;
  if (n < LEAST_FITTED) return `Recalibrating takes ${LEAST_FITTED} labels; there are ${n}.`;
  if (kind !== "boolean") return null;
  const yes = truth.reduce((sum, one) => sum + one, 0);
  const fewer = Math.min(yes, n - yes);
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

/** Which part of the rows a row is in, by its id: the same in any order. */
function foldsOf({ ids }: LabelledRows, parts: number): Uint8Array {
  const folds = new Uint8Array(ids.length);
  for (let row = 0; row < ids.length; row += 1) {
    folds[row] = Math.floor(parts * hashToShare(ids[row] as string, DEFAULT_SEED));
  }
  return folds;
}

function fitRows(rows: LabelledRows, kind: Recalibration["kind"]): Recalibration {
  const { p, cameTrue, table, truth, weights } = rows;
  if (kind === "temperature") {
    const { temperature } = fitTemperature(table, truth, { weights });
    return { kind, parameters: { temperature } };
  }
  if (kind === "logistic")
    return { kind, parameters: { ...fitLogistic(p, cameTrue, { weights }) } };
  const { x, y } = fitIsotonic(p, cameTrue, { weights });
  return { kind, parameters: { x: [...x], y: [...y] } };
}

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
