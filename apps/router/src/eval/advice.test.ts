import { expect, test } from "vitest";
import { tierNames } from "../decision/tier-question.ts";
import { adviseOn } from "./advice.ts";
import type { JudgedPrompt } from "./judged-prompts.ts";

/** Returns the next number, at least 0 and below 1. */
type Random = () => number;

/** One labelled prompt of a made-up world: each tier's quality and cost, and the tier that was chosen. */
interface Drawn {
  readonly quality: readonly number[];
  readonly cost?: readonly number[];
  readonly tier: number;
  /** The probability of each tier. @default the chosen one is certain */
  readonly shares?: readonly number[];
}

type World = (random: Random) => Drawn;

function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function drawPrompts(world: World, { n = 100, seed = 1 } = {}): JudgedPrompt[] {
  const random = seeded(seed * 7919 + n);
  return Array.from({ length: n }, () => {
    const { quality, cost = [1, 1, 10, 10], tier, shares } = world(random);
    const choice = tierNames[tier] ?? "nano";
    const entries = tierNames.map((name, at) => [name, shares?.[at] ?? Number(at === tier)]);
    const probabilities = Object.fromEntries(entries) as Record<typeof choice, number>;
    const answered = { evaluatorModelId: null, wire: null };
    const decision = { tierChosen: choice, probabilities, confidence: 1, ...answered };
    const points = tierNames.map((name, at) => [name, { quality: quality[at], cost: cost[at] }]);
    const tiers = Object.fromEntries(points) as JudgedPrompt["tiers"];
    return { decision, used: choice, rightTier: choice, tiers, length: null, isRepeat: false };
  });
}

function advise(prompts: readonly JudgedPrompt[], draws = 100) {
  return adviseOn(prompts, { minConfidence: null, seed: 1, draws });
}

/** Whether something of this probability happens. */
const isDrawn = (random: Random, share: number) => random() < share;
const two = (cheap: number, dear: number) => [cheap, cheap, dear, dear];
const upOr = (isUp: boolean) => (isUp ? 3 : 0);

/** The dear model is better for some prompts, and the judge knows as often as `skill` which these are. */
const judged =
  (hard: number, skill: number): World =>
  (random) => {
    const isHard = isDrawn(random, hard);
    return { quality: two(isHard ? 0 : 1, 1), tier: upOr(isDrawn(random, skill) === isHard) };
  };

/** The dear model is better for some prompts, and the judge sends any prompt to it with a probability. */
const dealt =
  (hard: number, up: number): World =>
  (random) => ({
    quality: two(isDrawn(random, hard) ? 0 : 1, 1),
    tier: upOr(isDrawn(random, up)),
  });

const seeds = Array.from({ length: 20 }, (_, seed) => seed + 1);
const bestIsCheapest = "The cheapest model is your best: do not route.";

test.each<[string, World]>([
  ["the dear model is worse", (random) => ({ ...dealt(0, 0.5)(random), quality: two(0.7, 0.5) })],
  ["all scores are equal", (random) => ({ ...dealt(0, 0.5)(random), quality: two(0.7, 0.7) })],
])("if %s, the cheapest model is best", (_, world) => {
  for (const seed of seeds) {
    const nothing = { threshold: null, saving: null, quality: null };
    expect(advise(drawPrompts(world, { seed }))).toEqual({
      verdict: "cheapest-is-best",
      sentence: bestIsCheapest,
      ...nothing,
    });
  }
});

test("the cheapest model is found by its cost, not by its place", () => {
  const world: World = () => ({ quality: [0.5, 0.6, 0.7, 0.9], cost: [10, 9, 8, 1], tier: 0 });
  expect(advise(drawPrompts(world)).sentence).toBe(bestIsCheapest);
});

test("fewer than 40 different prompts give no advice, however good the judge is", () => {
  const prompts = drawPrompts(judged(0.4, 1), { n: 39 });
  expect(advise(prompts)).toMatchObject({
    verdict: "cannot-tell",
    sentence: "Cannot tell: 39 different labelled prompts are too few. Label at least 40.",
  });
  const copies = prompts.map((prompt) => ({ ...prompt, isRepeat: true }));
  expect(advise([...prompts, ...copies]).verdict).toBe("cannot-tell");
  expect(advise(drawPrompts(judged(0.4, 1), { n: 40 })).verdict).toBe("route");
});

test.each<[string, number, World]>([
  ["half of the prompts are hard", 60, dealt(0.5, 0.5)],
  [
    "the models are equally good",
    60,
    (random) => ({ ...dealt(0, 0.5)(random), quality: two(random(), random()) }),
  ],
  ["few prompts are hard, and few go up", 40, dealt(0.1, 0.3)],
  ["few prompts are hard, and nearly all go up", 100, dealt(0.08, 0.9)],
])("a judge at chance is told to route in at most 5 % of sets: %s", (_, n, world) => {
  const sets = Array.from({ length: 60 }, (_, seed) => advise(drawPrompts(world, { n, seed }), 40));
  expect(sets.filter(({ verdict }) => verdict === "route").length).toBeLessThanOrEqual(3);
});

test("a judge that knows the hard prompts is told to route, with the price of it", () => {
  for (const seed of seeds) {
    const { verdict, sentence, saving, quality } = advise(drawPrompts(judged(0.4, 0.9), { seed }));
    expect(verdict).toBe("route");
    expect(saving?.low).toBeGreaterThan(0.3);
    expect(quality?.high).toBeLessThanOrEqual(0);
    expect(sentence).toMatch(
      /^Routing gains [\d.]+ points \(\S+ to \S+\) of quality over a random mix of the tiers at equal cost\. Beside always frontier it is [\d.]+% \(\S+ to \S+\) cheaper and its quality differs by -?[\d.]+ points \(\S+ to \S+\), for prompts like these\.$/,
    );
  }
});

test("a judge that is wrong more often than not is not told to route", () => {
  for (const seed of seeds) {
    expect(advise(drawPrompts(judged(0.4, 0.3), { seed })).verdict).toBe("cannot-tell");
  }
});

test.each([
  [0.9, 10, "0 points (0 to 0) of quality over a random mix of the tiers at equal cost;"],
  [0.95, 3, "-25 points (-28.2 to -21) of quality over always balanced, which costs no more;"],
])(
  "the rival is the best mix, or tier, that costs no more: balanced has %d for %d",
  (quality, cost, gain) => {
    let at = 0; // in turn, so that the routing costs 5.5 and has a quality of 0.7
    const points = { quality: [0.5, 0.5, quality, 0.9], cost: [1, 1, cost, 10] };
    const world: World = () => ({ ...points, tier: upOr(at++ % 2 === 1) });
    const { sentence } = advise(drawPrompts(world));
    expect(sentence).toContain(`Cannot tell whether routing helps: it gains ${gain}`);
  },
);

test("an order of prompts that is no better than chance is no advice", () => {
  const [low, high] = [
    [0.4, 0, 0.3, 0.3],
    [0.3, 0.3, 0, 0.4],
  ] as const; // the same mean tier
  const world: World = (random) => {
    const drawn = judged(0.4, 0.9)(random);
    return { ...drawn, shares: drawn.tier === 0 ? low : high };
  };
  expect(advise(drawPrompts(world))).toMatchObject({
    verdict: "cannot-tell",
    sentence: expect.stringMatching(
      /^Cannot tell whether routing helps: .* APGR is 0\.5 \(0\.5 to 0\.5\); chance has 0\.5\. Do not route as set up\.$/,
    ),
  });
});

/** Each of two models is best for half of the prompts, and the judge knows as often as `skill` which. */
const complementary = (skill: number): World => {
  let at = 0; // in turn, so that the means are equal
  return (random) => {
    const isHard = at++ % 2 === 1;
    return {
      quality: isHard ? two(0, 1) : two(1, 0),
      tier: upOr(isDrawn(random, skill) === isHard),
    };
  };
};

test("models of equal means that complement each other are worth routing", () => {
  for (const seed of seeds) {
    const { verdict, sentence } = advise(drawPrompts(complementary(0.85), { seed }));
    expect(verdict).toBe("route");
    expect(sentence).toMatch(/^Routing gains [\d.]+ points /);
  }
});

test("models that complement each other are worth routing, whichever is a little better", () => {
  const world: World = (random) => {
    const isHard = isDrawn(random, 0.5);
    return { quality: isHard ? two(0, 1) : two(1, 0), tier: upOr(isHard) };
  };
  for (const seed of seeds) expect(advise(drawPrompts(world, { seed })).verdict).toBe("route");
});

test("models of equal means are not worth routing by a judge at chance", () => {
  const sets = seeds.map((seed) => advise(drawPrompts(complementary(0.5), { seed })));
  expect(sets.filter(({ verdict }) => verdict === "route").length).toBeLessThanOrEqual(1);
  expect(sets.filter(({ sentence }) => sentence === bestIsCheapest).length).toBeGreaterThan(17);
});

test("a number of labels is named only if the gain and APGR are better than chance", () => {
  const sets = seeds.flatMap((seed) =>
    [0.45, 0.5, 0.55].map((skill) => advise(drawPrompts(judged(0.4, skill), { seed })).sentence),
  );
  const doubts = sets.filter((sentence) => sentence.startsWith("Cannot tell whether"));
  const isWorse = (sentence: string) =>
    Number(/gains (\S+) points/.exec(sentence)?.[1]) < 0 ||
    Number(/APGR is (\S+)/.exec(sentence)?.[1]) < 0.5;
  const worse = doubts.filter(isWorse);
  const named = doubts.filter((sentence) => / About [\d,]+ labels may suffice\.$/.test(sentence));
  expect(worse.length).toBeGreaterThan(10);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(isWorse)).toEqual([]);
  for (const sentence of worse) expect(sentence).toMatch(/ Do not route as set up\.$/);
});

test("no number of labels is named if another tier is better, however good the order is", () => {
  const world: World = (random) => {
    const isHard = isDrawn(random, 0.4);
    const tier = upOr(isDrawn(random, 0.8) === isHard);
    return { quality: isHard ? [0, 0, 0.8, 1] : [1, 1, 1, 1], cost: [1, 1, 3, 10], tier };
  };
  const sets = seeds.map((seed) => advise(drawPrompts(world, { seed })).sentence);
  const worse = sets.filter((sentence) =>
    / gains -\S+ points \(-\S+ to [\d.]*[1-9]\)/.test(sentence),
  );
  expect(worse.length).toBeGreaterThan(3);
  for (const sentence of worse) expect(sentence).toMatch(/ Do not route as set up\.$/);
});

test("without a gap the doubt says why there is no APGR", () => {
  const world: World = (random) => ({
    quality: [0.5, 0.6, 0.5, 0.4],
    tier: upOr(isDrawn(random, 0.5)),
  });
  const { verdict, sentence } = advise(drawPrompts(world));
  expect(verdict).toBe("cannot-tell");
  expect(sentence).toMatch(
    / There is no APGR, since frontier is no better than nano\. Do not route as set up\.$/,
  );
});

test("a routing that may cost more than always frontier is no advice", () => {
  const world: World = (random) => {
    const isHard = isDrawn(random, 0.4);
    const quality = isHard ? [0, 0, 1, 0.9] : [1, 1, 1, 0.9];
    return { quality, cost: [1, 1, 10, 2], tier: isHard ? 2 : 0 };
  };
  expect(advise(drawPrompts(world)).verdict).toBe("cannot-tell");
});

test("a tier that is better and cheaper than the routing is named instead", () => {
  const world: World = (random) => {
    const isHard = isDrawn(random, 0.4);
    const tier = upOr(isDrawn(random, 0.8) === isHard);
    return { quality: isHard ? [0, 0.2, 0.95, 0.9] : [1, 1, 1, 1], cost: [1, 2, 3, 10], tier };
  };
  for (const seed of seeds) {
    const { verdict, sentence } = advise(drawPrompts(world, { seed }));
    expect(verdict).toBe("cannot-tell");
    expect(sentence).toContain("over always balanced, which costs no more;");
  }
});

test.each<[string, World]>([
  ["all prompts go to one tier", (random) => ({ ...judged(0.4, 1)(random), tier: 0 })],
  ["no tier costs anything", (random) => ({ ...judged(0.4, 0.8)(random), cost: [0, 0, 0, 0] })],
  ["all tiers cost the same", (random) => ({ ...judged(0.4, 0.8)(random), cost: [2, 2, 2, 2] })],
])("nothing is gained if %s", (_, world) => {
  for (const seed of seeds) {
    const { verdict, sentence } = advise(drawPrompts(world, { seed }));
    expect(verdict).toBe("cannot-tell");
    expect(sentence).toMatch(/ over always \w+, which costs no more; .* Do not route as set up\.$/);
  }
});

test("one draw is not enough for advice at random", () => {
  const sets = seeds.map((seed) => advise(drawPrompts(dealt(0.3, 0.5), { seed }), 1));
  expect(sets.filter(({ verdict }) => verdict === "route").length).toBeLessThanOrEqual(1);
});
