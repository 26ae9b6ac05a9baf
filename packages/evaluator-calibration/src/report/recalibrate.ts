import type { Recalibration } from "../artifact/artifact.ts";
import { weightedMean } from "../check-rows.ts";
import { hashToShare } from "../math/random.ts";
import { applyIsotonic, fitIsotonicToPool } from "../recalibration/isotonic.ts";
import { applyLogistic, fitLogisticToPool } from "../recalibration/logistic.ts";
import {
  applyTemperature,
  fitTemperatureToRows,
  TEMPERATURE_LIMITS,
} from "../recalibration/temperature.ts";
import { HALF_A_PRINTED_UNIT } from "../scores/boolean-scores.ts";
import { poolRows } from "../scores/pool.ts";
import type { LabelledRows } from "./labelled-rows.ts";

/** What recalibrating comes to on rows that the fit did not see. */
export interface RecalibrationReport {
  /** The fit to all rows, or null where there are too few, or it did not help. */
  readonly recalibration: Recalibration | null;
  /** Mean log loss, cross-fitted; null where nothing was fitted. */
  readonly heldOut: { readonly before: number; readonly after: number } | null;
  /** Why there is none, or what to know about it. */
  readonly note: string | null;
}

const LEAST_LABELS = 100;
const LEAST_OF_EACH = 20;
const LEAST_FOR_ISOTONIC = 1000;

/** Returns the recalibration that helps most on held-out rows, where one does. */
export function recalibrateRows(rows: LabelledRows, seed: number): RecalibrationReport {
  const reason = reasonForNone(rows);
  if (reason !== null) return { recalibration: null, heldOut: null, note: reason };
  const folds = foldsOf(rows, seed);
  const kinds: Recalibration["kind"][] =
    rows.kind !== "boolean"
      ? ["temperature"]
      : rows.truth.length < LEAST_FOR_ISOTONIC
        ? ["logistic"]
        : ["logistic", "isotonic"];
  const tried = kinds.map((kind) => ({ kind, after: heldOutLoss(rows, folds, kind) }));
  const best = tried.reduce((one, other) => (other.after < one.after ? other : one));
  const before = meanLoss(rows, (row) => trueSideOf(rows, row, null));
  const heldOut = { before, after: best.after };
  if (best.after >= before) {
    const note = "Recalibrating did not lower the log loss on rows it had not seen.";
    return { recalibration: null, heldOut, note };
  }
  const recalibration = fitRows(rows, best.kind, () => true);
  return { recalibration, heldOut, note: noteOf(recalibration) };
}

function reasonForNone({ kind, truth }: LabelledRows): string | null {
  const n = truth.length;
  if (n < LEAST_LABELS) return `Recalibrating takes ${LEAST_LABELS} labels; there are ${n}.`;
  if (kind !== "boolean") return null;
  const yes = truth.reduce((sum, one) => sum + one, 0);
  const fewer = Math.min(yes, n - yes);
  return fewer >= LEAST_OF_EACH
    ? null
    : `Recalibrating takes ${LEAST_OF_EACH} labels of each side; of one there are ${fewer}.`;
}

function noteOf(recalibration: Recalibration): string | null {
  if (recalibration.kind !== "temperature") return null;
  const { temperature } = recalibration.parameters;
  const isAtLimit = TEMPERATURE_LIMITS.some((limit) => Math.abs(limit - temperature) < 1e-9);
  return isAtLimit ? `The temperature ended at its limit, ${temperature}: do not trust it.` : null;
}

/** Which part of the rows a row is in, by its id: the same in any order. */
function foldsOf({ ids }: LabelledRows, seed: number): Uint8Array {
  // Five parts; of very many rows two are as good, and faster.
  const parts = ids.length > 50_000 ? 2 : 5;
  return Uint8Array.from(ids, (id) => Math.floor(parts * hashToShare(id, seed)));
}

function heldOutLoss(rows: LabelledRows, folds: Uint8Array, kind: Recalibration["kind"]): number {
  const parts = [...new Set(folds)];
  const fits = new Map(
    parts.map((part) => [part, fitRows(rows, kind, (row) => folds[row] !== part)]),
  );
  return meanLoss(rows, (row) => trueSideOf(rows, row, fits.get(folds[row] as number) ?? null));
}

function fitRows(
  rows: LabelledRows,
  kind: Recalibration["kind"],
  isTaken: (row: number) => boolean,
): Recalibration {
  const { p, cameTrue, weights, table, truth } = rows;
  if (kind === "temperature") {
    const { temperature } = fitTemperatureToRows(table, truth, { weights, isTaken });
    return { kind, parameters: { temperature } };
  }
  const taken = (_: number, row: number) => isTaken(row);
  const pool = poolRows(p.filter(taken), cameTrue.filter(taken), weights?.filter(taken));
  if (kind === "logistic") return { kind, parameters: { ...fitLogisticToPool(pool) } };
  const { x, y } = fitIsotonicToPool(pool);
  return { kind, parameters: { x: [...x], y: [...y] } };
}

/** The true side's probability, recalibrated or as printed. */
function trueSideOf(rows: LabelledRows, row: number, recalibration: Recalibration | null): number {
  const { p, truth, table } = rows;
  const isTrue = truth[row] as number;
  if (rows.kind === "boolean") {
    const yes = recalibrated(p[row] as number, recalibration);
    return isTrue === 1 ? yes : 1 - yes;
  }
  const values = table.values.subarray(row * table.width, (row + 1) * table.width);
  if (recalibration?.kind !== "temperature") return values[isTrue] as number;
  return applyTemperature(values, recalibration.parameters.temperature)[isTrue] as number;
}

function recalibrated(p: number, recalibration: Recalibration | null): number {
  if (recalibration?.kind === "logistic") return applyLogistic(p, recalibration.parameters);
  if (recalibration?.kind === "isotonic") return applyIsotonic(p, recalibration.parameters);
  return p;
}

function meanLoss(rows: LabelledRows, trueSide: (row: number) => number): number {
  return weightedMean(rows.truth.length, rows.weights, (row) => {
    const clipped = Math.max(trueSide(row), HALF_A_PRINTED_UNIT);
    return -Math.log(Math.min(clipped, 1 - HALF_A_PRINTED_UNIT));
  });
}
