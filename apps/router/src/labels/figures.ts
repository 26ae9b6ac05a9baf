import type { Estimate } from "evaluator-calibration/reports";
import { seededRandom } from "evaluator-kit";
import { computeGap, type LabelledPrompt } from "./tier-points.ts";

/** How often rows are drawn for an interval. */
export type Draws = Readonly<Record<"seed" | "draws", number>>;

/**
 * Returns the figures of all rows, with the middle 95 % of their values in draws with replacement, or
 * another part between two equal tails; draws without a value do not count.
 */
export function estimate<TRow, TFigures extends Record<string, number | null>>(
  rows: readonly TRow[],
  { seed, draws, tail = 0.025 }: Draws & { readonly tail?: number },
  figuresOf: (rows: readonly TRow[]) => TFigures,
) {
  const nextRandom = seededRandom(seed);
  const drawRows = () => rows.map(() => rows[Math.floor(nextRandom() * rows.length)] as TRow);
  const samples = Array.from({ length: draws }, () => figuresOf(drawRows()));
  const estimates = Object.entries(figuresOf(rows)).map(([figureName, value]) => {
    if (value === null) return [figureName, null];
    const sortedValues = samples
      .flatMap((sampleFigures) => sampleFigures[figureName] ?? [])
      .toSorted((firstValue, secondValue) => firstValue - secondValue);
    const quantileAt = (wantedShare: number) =>
      sortedValues[Math.round(wantedShare * (sortedValues.length - 1))] ?? value;
    return [figureName, { value, low: quantileAt(tail), high: quantileAt(1 - tail) }];
  });
  return Object.fromEntries(estimates) as {
    [TName in keyof TFigures]: Estimate | Extract<TFigures[TName], null>;
  };
}

/** To the next figure, or for an end of an interval down or up. */
type FigureRounding = "halfExpand" | "floor" | "ceil";

/** Returns a figure with its interval, by default of three digits and rounded to the outside; a dash for null. */
export function figure(estimate: Estimate | null, printValue = inThreeDigits): string {
  if (estimate === null) return "–";
  const { value, low, high } = estimate;
  return `${printValue(value, "halfExpand")} (${printValue(low, "floor")} to ${printValue(high, "ceil")})`;
}

function inThreeDigits(value: number, roundingMode: FigureRounding): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3, roundingMode });
}

/** Returns a quality in hundredths, without the sign of -0. */
export function points(quality: number, roundingMode: FigureRounding): string {
  // The product of a decimal fraction is not exact, and its error must not move an end.
  return Number((100 * quality).toFixed(9))
    .toLocaleString("en", {
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
      roundingMode,
      signDisplay: "negative",
    })
    .replace("-", "\u2212");
}

/** A prompt in an order: the quality that the dear tier adds, and the value that is its place. */
type OrderedGap = Readonly<Record<"gap" | "value", number>>;

/** Returns the rows of {@link toGain} for one value of each prompt. */
export function toGaps(prompts: readonly LabelledPrompt[], orderValues: readonly number[]) {
  return prompts.map((prompt, at) => ({ gap: computeGap(prompt), value: orderValues[at] ?? 0 }));
}

/** The share of prompts for the dear tier, and the recovered part of the gap, 0..1 (PGR). */
type GainPoint = Readonly<Record<"share" | "recovered", number>>;

/**
 * Returns the gain if the prompts with the highest values go to the dear tier and all others to the
 * cheap one; among equal values, the curve is straight. APGR is the mean recovered gap over all shares.
 */
export function toGain(orderedGaps: readonly OrderedGap[]) {
  const totalGap = computeSum(orderedGaps);
  if (totalGap <= ROUNDING) return { points: [], apgr: null };
  const valueGroups = [...Map.groupBy(orderedGaps, ({ value }) => value)];
  const points: GainPoint[] = [{ share: 0, recovered: 0 }];
  let [askedShare, recoveredShare, apgr] = [0, 0, 0];
  for (const [, gapGroup] of valueGroups.toSorted(([one], [other]) => other - one)) {
    const groupShare = gapGroup.length / orderedGaps.length;
    const gainedShare = computeSum(gapGroup) / totalGap;
    apgr += groupShare * (recoveredShare + gainedShare / 2);
    askedShare += groupShare;
    recoveredShare += gainedShare;
    points.push({ share: askedShare, recovered: recoveredShare });
  }
  return { points, apgr };
}

/** Sums of the same terms in different orders differ by less. */
export const ROUNDING = 1e-9;

function computeSum(orderedGaps: readonly OrderedGap[]): number {
  return orderedGaps.reduce((gapTotal, { gap }) => gapTotal + gap, 0);
}
