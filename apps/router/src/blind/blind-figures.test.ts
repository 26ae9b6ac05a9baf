import { seededRandom } from "evaluator-kit";
import { expect, test } from "vitest";
import { compareBlind, describeBlind } from "./blind-figures.ts";

type BlindPair = Parameters<typeof compareBlind>[0][number];

/** How often a tier is right by the hardness of a message, 0..1, and how the judge sees it. */
interface World {
  readonly cheapest: (hardness: number) => number;
  readonly dearest: (hardness: number) => number;
  /** The judge's mean on right and on wrong replies. */
  readonly judge: readonly [right: number, wrong: number];
  /** The shares of right and of wrong replies with a thumb. */
  readonly thumbs: readonly [right: number, wrong: number];
}

const honest = { judge: [0.85, 0.25], thumbs: [0.4, 0.6] } as const;
const worlds: Record<string, World> = {
  "a gap": { ...honest, cheapest: (x) => 0.95 - 0.5 * x, dearest: (x) => 0.95 - 0.2 * x },
  "no gap": { ...honest, cheapest: (x) => 0.9 - 0.3 * x, dearest: (x) => 0.9 - 0.3 * x },
  "a worse dear tier": { ...honest, cheapest: () => 0.9, dearest: () => 0.7 },
  "a lenient judge": {
    judge: [0.95, 0.7],
    thumbs: [0.3, 0.7],
    cheapest: (x) => 0.9 - 0.5 * x,
    dearest: (x) => 0.95 - 0.1 * x,
  },
};

/** Messages up to this hardness are routed to the cheapest tier. */
const EASY = 0.6;

/** Returns messages of a world whose comparison costs $0.001 and $0.05. */
function pairsOf(world: World, count: number, random: () => number): BlindPair[] {
  const reply = (isRight: boolean, costUsd: number) => {
    const noise = random() + random() - 1;
    return { isRight, costUsd, quality: world.judge[isRight ? 0 : 1] + 0.15 * noise };
  };
  return Array.from({ length: count }, () => {
    const hardness = random();
    const cheapest = reply(random() < world.cheapest(hardness), 0.001);
    const dearest = reply(random() < world.dearest(hardness), 0.05);
    const routed = hardness < EASY ? cheapest : dearest;
    const hasThumb = random() < world.thumbs[routed.isRight ? 0 : 1];
    return { cheapest, dearest, routed, isGood: hasThumb ? routed.isRight : null };
  });
}

/** Returns the true mean differences from the dearest tier. */
function truthOf({ cheapest, dearest }: World) {
  const steps = Array.from({ length: 1000 }, (_, at) => (at + 0.5) / 1000);
  const gaps = steps.map((hardness) => ({ hardness, gap: cheapest(hardness) - dearest(hardness) }));
  const mean = (all: readonly { readonly gap: number }[]) =>
    all.reduce((sum, { gap }) => sum + gap, 0) / steps.length;
  return { cheapest: mean(gaps), routed: mean(gaps.filter(({ hardness }) => hardness < EASY)) };
}

test.each(Object.entries(worlds))("the intervals hold the true difference: %s", (_, world) => {
  const truth = truthOf(world);
  const rounds = Array.from({ length: 20 }, (__, seed) =>
    compareBlind(pairsOf(world, 300, seededRandom(7919 * (seed + 1))), seed),
  );
  for (const way of ["cheapest", "routed"] as const) {
    const held = rounds.filter(({ [way]: { quality } }) => {
      return quality.low <= truth[way] && truth[way] <= quality.high;
    });
    // With 95 % each, 16 or fewer of 20 are a matter of 0.3 %.
    expect(held.length).toBeGreaterThan(16);
  }
});

test("the intervals are wider than those of 95 % of the draws", () => {
  // Differences from -1 to 1; their standard deviation is 1 / sqrt(3).
  const pairs = Array.from({ length: 100 }, (_, at) => {
    const cheapest = { quality: (2 * at - 99) / 100, costUsd: 1 };
    return { cheapest, routed: cheapest, dearest: { quality: 0, costUsd: 1 }, isGood: null };
  });
  const errors = Array.from({ length: 30 }, (_, seed) => {
    const { low, high } = compareBlind(pairs, seed + 1).cheapest.quality;
    return ((high - low) / 2) * Math.sqrt(3 * 100);
  });
  const mean = errors.reduce((sum, each) => sum + each, 0) / errors.length;
  // A normal distribution has 1.75 % above 2.11 standard errors, and 2.5 % above 1.96.
  expect(mean).toBeGreaterThan(2.05);
  expect(mean).toBeLessThan(2.16);
});

test("from 300 messages on there is a sentence; without thumbs it names the judge alone", () => {
  const pairs = pairsOf(worlds["a gap"] as World, 300, seededRandom(1));
  expect(describeBlind(pairs.slice(1))).toBe("Blind shadow: 299 of 300 messages are compared.");
  expect(describeBlind(pairs)).toMatch(
    /^Blind shadow, 300 messages, beside always the dearest tier: as routed [\d.]+ \([\d.]+ to [\d.]+\) % cheaper, quality −[\d.]+ \(.+\) points; always the cheapest 98.0 \(98.0 to 98.0\) % cheaper, quality .+ points\. The judge is calibrated by \d+ good and \d+ bad thumbs\.$/,
  );
  const random = seededRandom(2);
  const guessed = pairs.map((pair) => Object.assign({ ...pair }, { isGood: random() < 0.5 }));
  expect(describeBlind(guessed)).toMatch(
    /as routed [\d.]+ \(.+\) % cheaper; always the cheapest .+ % cheaper\. The judge does not separate \d+ good and \d+ bad thumbs, so the quality is unknown\.$/,
  );
  const unrated = pairs.map((pair) => Object.assign({ ...pair }, { isGood: null }));
  expect(describeBlind(unrated)).toContain("Only the judge rates quality: 0 good and 0 bad thumbs");
});
