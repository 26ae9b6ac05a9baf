import type { Recalibration } from "../artifact/artifact.ts";
import { hashToShare } from "../math/random.ts";
import { applyIsotonic, fitIsotonicToPool } from "../recalibration/isotonic.ts";
import { applyLogistic, fitLogisticToPool } from "../recalibration/logistic.ts";
import {
  PrintedTable,
  TEMPERATURE_LIMITS,
  temperatureOfRows,
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

// All three chosen, not measured; that a fit helps is shown on rows it did not see, whatever their number.
/** The fewest labels that a recalibration is fitted to. */
export const LEAST_FITTED = 100;
/** The fewest labels of each side that a recalibration of a yes/no question is fitted to. */
export const LEAST_FITTED_OF_EACH = 20;
const LEAST_FOR_ISOTONIC = 1000;

/** Returns the recalibration that helps most on held-out rows, where one does. */
export function recalibrateRows(rows: LabelledRows, seed: number): RecalibrationReport {
  const reason = reasonForNone(rows);
  if (reason !== null) return { recalibration: null, heldOut: null, note: reason };
  const all = new RowSet(rows, undefined);
  const parts = partsOf(all, foldsOf(rows, seed));
  const kinds: Recalibration["kind"][] =
    rows.kind !== "boolean"
      ? ["temperature"]
      : rows.truth.length < LEAST_FOR_ISOTONIC
        ? ["logistic"]
        : ["logistic", "isotonic"];
  const tried = kinds.map((kind) => ({ kind, after: heldOutLoss(parts, kind) }));
  const best = tried.reduce((one, other) => (other.after < one.after ? other : one));
  const printed = lossSums(all, null);
  const before = printed.loss / printed.total;
  const heldOut = { before, after: best.after };
  if (best.after >= before) {
    const note = "Recalibrating did not lower the log loss on rows it had not seen.";
    return { recalibration: null, heldOut, note };
  }
  const recalibration = fitRows(all, best.kind);
  return { recalibration, heldOut, note: noteOf(recalibration) };
}

/** Returns the fit to all rows, by their weights: a line on log odds, or the temperature of choices and scores. */
export function fitRecalibration(rows: LabelledRows): Recalibration {
  return fitRows(new RowSet(rows, undefined), rows.kind === "boolean" ? "logistic" : "temperature");
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
function foldsOf({ ids }: LabelledRows, seed: number): Uint8Array {
  // Five parts; of very many rows two are as good, and faster.
  const parts = ids.length > 50_000 ? 2 : 5;
  const folds = new Uint8Array(ids.length);
  for (let row = 0; row < ids.length; row += 1) {
    folds[row] = Math.floor(parts * hashToShare(ids[row] as string, seed));
  }
  return folds;
}

/** Some rows of a question; their pool, and the table of all of them, are made once. */
class RowSet {
  readonly rows: LabelledRows;
  /** Undefined for all. */
  readonly taken: Uint32Array | undefined;
  readonly #tables: { printed: PrintedTable | null };
  #pool: Pool | null = null;

  constructor(
    rows: LabelledRows,
    taken: Uint32Array | undefined,
    tables: { printed: PrintedTable | null } = { printed: null },
  ) {
    this.rows = rows;
    this.taken = taken;
    this.#tables = tables;
  }

  /** The same question with fewer rows. */
  take(taken: Uint32Array): RowSet {
    return new RowSet(this.rows, taken, this.#tables);
  }

  /** The rows of a yes/no question, pooled. */
  get pool(): Pool {
    const { p, cameTrue, weights } = this.rows;
    const { taken } = this;
    if (taken === undefined) this.#pool ??= poolRows(p, cameTrue, weights);
    else {
      this.#pool ??= poolRows(
        gather(p, taken),
        gather(cameTrue, taken),
        weights === undefined ? undefined : gather(weights, taken),
      );
    }
    return this.#pool;
  }

  /** The printed values of all rows. */
  get printed(): PrintedTable {
    this.#tables.printed ??= new PrintedTable(this.rows.table);
    return this.#tables.printed;
  }
}

function gather(values: ArrayLike<number>, taken: Uint32Array): Float64Array {
  const gathered = new Float64Array(taken.length);
  for (let at = 0; at < taken.length; at += 1) gathered[at] = values[taken[at] as number] as number;
  return gathered;
}

/** One part of the rows, and all others. */
interface Part {
  readonly inside: RowSet;
  readonly outside: RowSet;
}

function partsOf(all: RowSet, folds: Uint8Array): Part[] {
  const parts = [...new Set(folds)];
  const inside = parts.map((part) => all.take(rowsWhere(folds, (fold) => fold === part)));
  const [one, other] = inside;
  // Of two parts, each is all that the other is not.
  if (one !== undefined && other !== undefined && parts.length === 2) {
    return [
      { inside: one, outside: other },
      { inside: other, outside: one },
    ];
  }
  return inside.map((set, at) => ({
    inside: set,
    outside: all.take(rowsWhere(folds, (fold) => fold !== parts[at])),
  }));
}

function rowsWhere(folds: Uint8Array, isTaken: (fold: number) => boolean): Uint32Array {
  const rows = new Uint32Array(folds.length);
  let length = 0;
  for (let row = 0; row < folds.length; row += 1) {
    if (isTaken(folds[row] as number)) rows[length++] = row;
  }
  return rows.subarray(0, length);
}

/** The mean log loss of each part under a fit to all the others. */
function heldOutLoss(parts: readonly Part[], kind: Recalibration["kind"]): number {
  let [loss, total] = [0, 0];
  for (const { inside, outside } of parts) {
    const sums = lossSums(inside, fitRows(outside, kind));
    loss += sums.loss;
    total += sums.total;
  }
  return loss / total;
}

function fitRows(set: RowSet, kind: Recalibration["kind"]): Recalibration {
  const { weights, truth } = set.rows;
  if (kind === "temperature") {
    const choice = { weights, rows: set.taken };
    const temperature = temperatureOfRows(set.printed, truth, choice);
    return { kind, parameters: { temperature } };
  }
  if (kind === "logistic") return { kind, parameters: { ...fitLogisticToPool(set.pool) } };
  const { x, y } = fitIsotonicToPool(set.pool);
  return { kind, parameters: { x: [...x], y: [...y] } };
}

interface LossSums {
  readonly loss: number;
  readonly total: number;
}

/** The log losses of some rows and their weights, recalibrated or as printed. */
function lossSums(set: RowSet, recalibration: Recalibration | null): LossSums {
  return set.rows.kind === "boolean"
    ? lossOfPool(set.pool, recalibration)
    : lossOfRows(set, recalibration);
}

function lossOfPool(
  { values, weights, positives }: Pool,
  recalibration: Recalibration | null,
): LossSums {
  let [loss, total] = [0, 0];
  for (let i = 0; i < values.length; i += 1) {
    const yes = recalibrated(values[i] as number, recalibration);
    const [all, isYes] = [weights[i] as number, positives[i] as number];
    loss -= isYes * Math.log(clip(yes)) + (all - isYes) * Math.log(clip(1 - yes));
    total += all;
  }
  return { loss, total };
}

function lossOfRows(set: RowSet, recalibration: Recalibration | null): LossSums {
  const { truth, table, weights } = set.rows;
  const shareOf =
    recalibration?.kind === "temperature"
      ? set.printed.sharesAt(recalibration.parameters.temperature)
      : (row: number, option: number) => table.values[row * table.width + option] as number;
  let [loss, total] = [0, 0];
  const { taken } = set;
  for (let at = 0; at < (taken ?? truth).length; at += 1) {
    const row = taken === undefined ? at : (taken[at] as number);
    const weight = weights === undefined ? 1 : (weights[row] as number);
    loss -= weight * Math.log(clip(shareOf(row, truth[row] as number)));
    total += weight;
  }
  return { loss, total };
}

function clip(probability: number): number {
  return Math.min(Math.max(probability, HALF_A_PRINTED_UNIT), 1 - HALF_A_PRINTED_UNIT);
}

function recalibrated(p: number, recalibration: Recalibration | null): number {
  if (recalibration?.kind === "logistic") return applyLogistic(p, recalibration.parameters);
  if (recalibration?.kind === "isotonic") return applyIsotonic(p, recalibration.parameters);
  return p;
}
