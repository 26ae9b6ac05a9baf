import { z } from "zod";
import type { Form } from "../kinds.ts";
import type { Numbers } from "../math/rows.ts";
import { isotonic, logistic } from "./probability-fits.ts";
import {
  type ProbabilityTable,
  type Recalibrator,
  temperature,
  TEMPERATURE_LIMITS,
} from "./temperature.ts";

/** A probability: at least 0 and at most 1. */
export const share = z.number().min(0).max(1);
const [coldest, hottest] = TEMPERATURE_LIMITS;

/** The kinds of recalibration, each with its schema. */
export const recalibrationSchemas = [
  z.object({
    kind: z.literal("logistic"),
    parameters: z.object({ intercept: z.number(), slope: z.number() }),
  }),
  z.object({
    kind: z.literal("temperature"),
    parameters: z.object({ temperature: z.number().min(coldest).max(hottest) }),
  }),
  z.object({
    kind: z.literal("isotonic"),
    parameters: z
      .object({ x: z.array(share).min(1), y: z.array(share) })
      .refine(({ x, y }) => x.length === y.length, "x and y must be equally long"),
  }),
] as const;

/** How one question's answers are recalibrated. */
export type Recalibration = z.infer<(typeof recalibrationSchemas)[number]>;

type Kind = Recalibration["kind"];
type ParametersOf<TKind extends Kind> = Extract<Recalibration, { kind: TKind }>["parameters"];
const recalibrators: { [TKind in Kind]: Recalibrator<ParametersOf<TKind>> } = {
  logistic,
  temperature,
  isotonic,
};

/** The recalibrations that fit a form, the simplest first. */
export const recalibrationsOf: Readonly<Record<Form, readonly Kind[]>> = {
  probability: ["logistic", "isotonic"],
  distribution: ["temperature"],
};

/** Returns the recalibration of a kind that fits labelled rows best. */
export function fitOf(kind: Kind, rows: Parameters<typeof logistic.fit>[0]): Recalibration {
  return { kind, parameters: recalibrators[kind].fit(rows) } as Recalibration;
}

/** Returns a function that returns one probability of a table, recalibrated. */
export function recalibrated({ kind, parameters }: Recalibration) {
  const { shareAt } = recalibrators[kind] as Recalibrator<unknown>;
  return (table: ProbabilityTable, at: number) => shareAt(table, at, parameters);
}

/** Returns recalibrated probabilities: one for each option or level, or those of yes in a list. */
export function applyRecalibration(printed: Numbers, recalibration: Recalibration): number[] {
  const shareAt = recalibrated(recalibration);
  const table = { width: printed.length, values: printed };
  return Array.from(printed, (_, at) => shareAt(table, at));
}
