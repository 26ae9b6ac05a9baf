import { z } from "zod";
import type { Form } from "../kinds.ts";
import { type Numbers, type Weighted } from "../math/rows.ts";
import { monotoneMeans, poolRows } from "../scores/pool.ts";
import { applyLogistic } from "./logistic.ts";
import { applyTemperature, TEMPERATURE_LIMITS } from "./temperature.ts";

/** A probability: at least 0 and at most 1. */
export const share = z.number().min(0).max(1);
const [coldest, hottest] = TEMPERATURE_LIMITS;

/** The kinds of recalibration, each with the schema of its parameters. */
export const recalibrations = {
  logistic: {
    kind: z.literal("logistic"),
    parameters: z.object({ intercept: z.number(), slope: z.number() }),
  },
  isotonic: {
    kind: z.literal("isotonic"),
    parameters: z
      .object({ x: z.array(share).min(1), y: z.array(share) })
      .refine(({ x, y }) => x.length === y.length, "x and y must be equally long"),
  },
  temperature: {
    kind: z.literal("temperature"),
    parameters: z.object({ temperature: z.number().min(coldest).max(hottest) }),
  },
};

/** How one question's answers are recalibrated. */
export const recalibrationSchema = z.discriminatedUnion("kind", [
  z.object(recalibrations.logistic),
  z.object(recalibrations.temperature),
  z.object(recalibrations.isotonic),
]);
/** See {@link recalibrationSchema}. */
export type Recalibration = z.infer<typeof recalibrationSchema>;

/** The recalibrations that fit a form, the simplest first. */
export const recalibrationsOf: Readonly<Record<Form, readonly Recalibration["kind"][]>> = {
  probability: ["logistic", "isotonic"],
  distribution: ["temperature"],
};

/** Returns recalibrated probabilities: one for each option or level, or that of yes alone. */
export function applyRecalibration(printed: Numbers, recalibration: Recalibration): number[] {
  const { kind, parameters } = recalibration;
  if (kind === "temperature") return applyTemperature(printed, parameters.temperature);
  return Array.from(printed, (p) =>
    kind === "isotonic" ? applyIsotonic(p, parameters) : applyLogistic(p, parameters),
  );
}

/** A curve that never descends, through (x, y); straight between its points and flat outside. */
export type IsotonicFit = Extract<Recalibration, { kind: "isotonic" }>["parameters"];

/** Returns the isotonic regression of truth on p. */
export function fitIsotonic(p: Numbers, truth: Numbers, { weights }: Weighted = {}): IsotonicFit {
  const pool = poolRows(p, truth, weights);
  const fitted = monotoneMeans(pool.positives, pool.weights);
  // Inside a flat stretch no point is needed.
  const isEdge = (_: number, i: number) =>
    fitted[i] !== fitted[i - 1] || fitted[i] !== fitted[i + 1];
  return { x: Array.from(pool.values.filter(isEdge)), y: Array.from(fitted.filter(isEdge)) };
}

/** Returns a printed probability mapped by a fitted curve. */
export function applyIsotonic(p: number, { x, y }: IsotonicFit): number {
  const above = x.findIndex((value) => value >= p);
  if (above === -1) return y.at(-1) ?? Number.NaN;
  const [right, high] = [x[above] as number, y[above] as number];
  if (above === 0 || right === p) return high;
  const [left, low] = [x[above - 1] as number, y[above - 1] as number];
  return low + ((high - low) * (p - left)) / (right - left);
}
