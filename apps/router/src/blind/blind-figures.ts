import { seededRandom } from "evaluator-kit";

/** A judged reply: its quality, 0..1, and its cost in US dollars. */
type Reply = Readonly<Record<"quality" | "costUsd", number>>;

/** A message whose replies were compared. */
export interface BlindPair extends Readonly<Record<"routed" | "cheapest" | "dearest", Reply>> {
  /** Whether the client found the routed reply good; null without a thumb. */
  readonly isGood: boolean | null;
}

/** The fewest good thumbs, and bad ones, that calibrate the judge. Chosen. */
const LEAST_THUMBS = 20;

const DRAWS = 500;

/**
 * Returns saving and quality beside always the dearest tier, with 95 % intervals from draws with
 * replacement. A judge that separates good from bad replies by less than 1 shows too small differences;
 * the thumbs measure its separation, and the differences are divided by it.
 */
export function compareBlind(pairs: readonly BlindPair[], seed = 1) {
  const random = seededRandom(seed);
  const draws = Array.from({ length: DRAWS }, () =>
    pairs.map(() => pairs[Math.floor(random() * pairs.length)] as BlindPair),
  );
  const thumbs = [true, false].map((good) => pairs.filter(({ isGood }) => isGood === good).length);
  const isCalibrated = Math.min(...thumbs) >= LEAST_THUMBS;
  const estimate = (figureOf: (drawn: readonly BlindPair[]) => number) => {
    const sorted = draws.map(figureOf).toSorted((one, other) => one - other);
    const [low = 0, high = 0] = [0.025, 0.975].map(
      (share) => sorted[Math.round(share * (DRAWS - 1))],
    );
    return { value: figureOf(pairs), low, high };
  };
  const beside = (way: "routed" | "cheapest") => ({
    saving: estimate(
      (drawn) =>
        1 -
        meanOf(drawn, (pair) => pair[way].costUsd) /
          meanOf(drawn, ({ dearest }) => dearest.costUsd),
    ),
    quality: estimate((drawn) => {
      const gap = meanOf(drawn, (pair) => pair[way].quality - pair.dearest.quality);
      return isCalibrated ? gap / separationOf(drawn) : gap;
    }),
  });
  return { thumbs, isCalibrated, routed: beside("routed"), cheapest: beside("cheapest") };
}

/** How much higher the judge's mean is on good replies than on bad ones. */
function separationOf(pairs: readonly BlindPair[]): number {
  const [good = 0, bad = 0] = [true, false].map((wanted) => {
    const thumbed = pairs.filter(({ isGood }) => isGood === wanted);
    return meanOf(thumbed, ({ routed }) => routed.quality);
  });
  return good - bad;
}

function meanOf<TItem>(items: readonly TItem[], valueOf: (item: TItem) => number): number {
  return items.reduce((sum, item) => sum + valueOf(item), 0) / items.length;
}

/** The fewest messages for a comparison in words. */
const LEAST_PAIRS = 300;

/** Describes the comparison of replies for a person. */
export function describeBlind(pairs: readonly BlindPair[]): string {
  const count = pairs.length;
  if (count < LEAST_PAIRS) return `Blind shadow: ${count} of ${LEAST_PAIRS} messages are compared.`;
  const { thumbs, isCalibrated, routed, cheapest } = compareBlind(pairs);
  const figures = ({ saving, quality }: typeof routed) =>
    `${inHundredths(saving)} % cheaper, quality ${inHundredths(quality)} points`;
  const [good, bad] = thumbs;
  const judge = isCalibrated
    ? `The judge is calibrated by ${good} good and ${bad} bad thumbs.`
    : `Only the judge rates quality: ${good} good and ${bad} bad thumbs, ${LEAST_THUMBS} of each calibrate it.`;
  return `Blind shadow, ${count} messages, beside always the dearest tier: as routed ${figures(routed)}; always the cheapest ${figures(cheapest)}. ${judge}`;
}

function inHundredths(estimate: Readonly<Record<"value" | "low" | "high", number>>): string {
  const { value, low, high } = estimate;
  const [at, from, to] = [value, low, high].map((each) =>
    (Math.round(1000 * each) / 10 + 0).toFixed(1),
  );
  return `${at} (${from} to ${to})`;
}
