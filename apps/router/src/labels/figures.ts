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
  const random = seededRandom(seed);
  const draw = () => rows.map(() => rows[Math.floor(random() * rows.length)] as TRow);
  const samples = Array.from({ length: draws }, () => figuresOf(draw()));
  const estimates = Object.entries(figuresOf(rows)).map(([name, value]) => {
    if (value === null) return [name, null];
    const sortedValues = samples
      .flatMap((each) => each[name] ?? [])
      .toSorted((one, other) => one - other);
    const at = (share: number) =>
      sortedValues[Math.round(share * (sortedValues.length - 1))] ?? value;
    return [name, { value, low: at(tail), high: at(1 - tail) }];
  });
  return Object.fromEntries(estimates) as {
    [TName in keyof TFigures]: Estimate | Extract<TFigures[TName], null>;
  };
}

/** To the next figure, or for an end of an interval down or up. */
type FigureRounding = "halfExpand" | "floor" | "ceil";

/** Returns a figure with its interval, by default of three digits and rounded to the outside; a dash for null. */
export function figure(estimate: Estimate | null, print = inThreeDigits): string {
  if (estimate === null) return "–";
  const { value, low, high } = estimate;
  return `${print(value, "halfExpand")} (${print(low, "floor")} to ${print(high, "ceil")})`;
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
export function toGaps(prompts: readonly LabelledPrompt[], values: readonly number[]) {
  return prompts.map((prompt, at) => ({ gap: computeGap(prompt), value: values[at] ?? 0 }));
}

/** The share of prompts for the dear tier, and the recovered part of the gap, 0..1 (PGR). */
type GainPoint = Readonly<Record<"share" | "recovered", number>>;

/**
 * Returns the gain if the prompts with the highest values go to the dear tier and all others to the
 * cheap one; among equal values, the curve is straight. APGR is the mean recovered gap over all shares.
 */
export function toGain(rows: readonly OrderedGap[]) {
  const gap = computeSum(rows);
  if (gap <= ROUNDING) return { points: [], apgr: null };
  const groups = [...Map.groupBy(rows, ({ value }) => value)];
  const points: GainPoint[] = [{ share: 0, recovered: 0 }];
  let [askedShare, recoveredShare, apgr] = [0, 0, 0];
  for (const [, group] of groups.toSorted(([one], [other]) => other - one)) {
    const width = group.length / rows.length;
    const gainedShare = computeSum(group) / gap;
    apgr += width * (recoveredShare + gainedShare / 2);
    askedShare += width;
    recoveredShare += gainedShare;
    points.push({ share: askedShare, recovered: recoveredShare });
  }
  return { points, apgr };
}

/** Sums of the same terms in different orders differ by less. */
export const ROUNDING = 1e-9;

function computeSum(rows: readonly OrderedGap[]): number {
  return rows.reduce((sum, { gap }) => sum + gap, 0);
}
