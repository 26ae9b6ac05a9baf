import type { Recalibration } from "../artifact/artifact.ts";
import { hashToShare } from "../math/random.ts";
import { applyIsotonic, fitIsotonicToPool } from "../recalibration/isotonic.ts";
import { applyLogistic, fitLogisticToPool } from "../recalibration/logistic.ts";
import {
  applyTemperature,
  fitTemperatureToRows,
  TEMPERATURE_LIMITS,
} from "../recalibration/temperature.ts";
import { HALF_A_PRINTED_UNIT } from "../scores/boolean-scores.ts";
import { type Pool, poolRows } from "../scores/pool.ts";
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
  const printed = lossSums(rows, null, () => true);
  const before = printed.loss / printed.total;
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

/** The mean log loss of each part under a fit to all the others. */
function heldOutLoss(rows: LabelledRows, folds: Uint8Array, kind: Recalibration["kind"]): number {
  let [loss, total] = [0, 0];
  for (const part of new Set(folds)) {
    const fit = fitRows(rows, kind, (row) => folds[row] !== part);
    const sums = lossSums(rows, fit, (row) => folds[row] === part);
    loss += sums.loss;
    total += sums.total;
  }
  return loss / total;
}

type RowFilter = (row: number) => boolean;

function fitRows(
  rows: LabelledRows,
  kind: Recalibration["kind"],
  isTaken: RowFilter,
): Recalibration {
  const { weights, table, truth } = rows;
  if (kind === "temperature") {
    const { temperature } = fitTemperatureToRows(table, truth, { weights, isTaken });
    return { kind, parameters: { temperature } };
  }
  const pool = poolOf(rows, isTaken);
  if (kind === "logistic") return { kind, parameters: { ...fitLogisticToPool(pool) } };
  const { x, y } = fitIsotonicToPool(pool);
  return { kind, parameters: { x: [...x], y: [...y] } };
}

function poolOf({ p, cameTrue, weights }: LabelledRows, isTaken: RowFilter): Pool {
  const taken = (_: number, row: number) => isTaken(row);
  return poolRows(p.filter(taken), cameTrue.filter(taken), weights?.filter(taken));
}

/** The log losses of some rows and their weights, recalibrated or as printed. */
function lossSums(
  rows: LabelledRows,
  recalibration: Recalibration | null,
  isTaken: RowFilter,
): { loss: number; total: number } {
  let [loss, total] = [0, 0];
  const add = (weight: number, trueSide: number) => {
    loss -= weight * Math.log(clip(trueSide));
    total += weight;
  };
  if (rows.kind === "boolean") {
    const { values, weights, positives } = poolOf(rows, isTaken);
    for (let i = 0; i < values.length; i += 1) {
      const yes = recalibrated(values[i] as number, recalibration);
      add(positives[i] as number, yes);
      add((weights[i] as number) - (positives[i] as number), 1 - yes);
    }
    return { loss, total };
  }
  for (let row = 0; row < rows.truth.length; row += 1) {
    if (isTaken(row)) add(rows.weights?.[row] ?? 1, shareOfTruth(rows, row, recalibration));
  }
  return { loss, total };
}

function clip(probability: number): number {
  return Math.min(Math.max(probability, HALF_A_PRINTED_UNIT), 1 - HALF_A_PRINTED_UNIT);
}

/** The true option's probability, recalibrated or as printed. */
function shareOfTruth(
  { truth, table }: LabelledRows,
  row: number,
  recalibration: Recalibration | null,
): number {
  const values = table.values.subarray(row * table.width, (row + 1) * table.width);
  const isTrue = truth[row] as number;
  if (recalibration?.kind !== "temperature") return values[isTrue] as number;
  return applyTemperature(values, recalibration.parameters.temperature)[isTrue] as number;
}

function recalibrated(p: number, recalibration: Recalibration | null): number {
  if (recalibration?.kind === "logistic") return applyLogistic(p, recalibration.parameters);
  if (recalibration?.kind === "isotonic") return applyIsotonic(p, recalibration.parameters);
  return p;
}
