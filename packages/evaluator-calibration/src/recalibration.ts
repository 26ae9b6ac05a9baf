import type { Recalibration } from "./artifact.ts";
import type { Form } from "./kinds.ts";
import type { Numbers } from "./math/rows.ts";
import { HALF_A_PRINTED_UNIT } from "./scores/probability-scores.ts";

type Kind = Recalibration["kind"];

/** The parameters of a kind of recalibration. */
export type FitParameters<TKind extends Kind> = Extract<
  Recalibration,
  { kind: TKind }
>["parameters"];

/** How each kind of recalibration changes the printed probabilities of one row. */
const appliers: {
  [TKind in Kind]: (printedValues: readonly number[], parameters: FitParameters<TKind>) => number[];
} = {
  /** The logistic regression of truth on the log odds of p: a line. */
  logistic: (printedValues, { intercept, slope }) =>
    printedValues.map((p) => 1 / (1 + Math.exp(-intercept - slope * logOdds(p)))),
  /** The softmax of ln max(p, 0.005) / temperature. */
  temperature(printedValues, { temperature }) {
    const tempered = printedValues.map(
      (probability) => Math.max(probability, HALF_A_PRINTED_UNIT) ** (1 / temperature),
    );
    const temperedSum = tempered.reduce(
      (runningSum, temperedValue) => runningSum + temperedValue,
      0,
    );
    return tempered.map((temperedValue) => temperedValue / temperedSum);
  },
  /** The isotonic regression of truth on p: straight between its points (x, y), and flat outside. */
  isotonic: (printedValues, { x, y }) =>
    printedValues.map((probability) => {
      const upperIndex = x.findIndex((fittedValue) => fittedValue >= probability);
      if (upperIndex === -1) return y.at(-1) ?? Number.NaN;
      const [rightX, rightY] = [x[upperIndex] as number, y[upperIndex] as number];
      if (upperIndex === 0 || rightX === probability) return rightY;
      const [leftX, leftY] = [x[upperIndex - 1] as number, y[upperIndex - 1] as number];
      return leftY + ((rightY - leftY) * (probability - leftX)) / (rightX - leftX);
    }),
};

/** The recalibrations that fit a form, the simplest first. */
export const recalibrationsOf: Readonly<Record<Form, readonly Kind[]>> = {
  probability: ["logistic", "isotonic"],
  distribution: ["temperature"],
};

/** Returns recalibrated probabilities: one for each option or level, or those of yes in a list. */
export function applyRecalibration(
  printedValues: Numbers,
  { kind, parameters }: Recalibration,
): number[] {
  const applyKind: (values: readonly number[], ofKind: never) => number[] = appliers[kind];
  return applyKind(Array.from(printedValues), parameters as never);
}

/** Returns the log odds of a probability, clipped at half a printed unit. */
export function logOdds(probability: number): number {
  const clippedCount = Math.min(
    Math.max(probability, HALF_A_PRINTED_UNIT),
    1 - HALF_A_PRINTED_UNIT,
  );
  return Math.log(clippedCount / (1 - clippedCount));
}
