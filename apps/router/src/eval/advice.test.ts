import { expect, test } from "vitest";
import { tierNames } from "../decision/tier-question.ts";
import { adviseOn } from "./evaluate-routing.ts";

type JudgedPrompt = Parameters<typeof adviseOn>[0][number];

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
    const label = { text: "", length: null, category: null, models: null, probabilities };
    const costs = tierNames.map((name) => tiers[name].cost);
    const cheapest = tierNames[costs.indexOf(Math.min(...costs))] ?? "nano";
    return {
      ...label,
      decision,
      used: choice,
      rightTier: choice,
      tiers,
      cheapest,
      cheap: tiers[cheapest],
      dear: tiers.frontier,
      isRepeat: false,
    };
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
    sentence:
      "These labels are inconclusive: too few different labelled prompts (39). 40 labels may suffice.",
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
    const { verdict, sentence, threshold, saving, quality } = advise(
      drawPrompts(judged(0.4, 0.9), { seed }),
    );
    expect(verdict).toBe("route");
    expect(threshold).toBe(0);
    expect(saving?.low).toBeGreaterThan(0.3);
    expect(quality?.high).toBeLessThanOrEqual(0);
    expect(sentence).toMatch(
      /^With 0: \d+ % cheaper, quality [−\d.]+ ± [\d.]+ points; 95 % sure that it keeps \d+ % of frontier's\.$/,
    );
  }
});

test("the kept share of the quality holds for new prompts in at least 95 % of sets", () => {
  const world = judged(0.4, 0.9); // keeps 0.96
  const sets = Array.from({ length: 100 }, (_, seed) =>
    advise(drawPrompts(world, { n: 200, seed }), 40),
  );
  const kept = sets.map(({ sentence }) => Number(/keeps (\d+) %/.exec(sentence)?.[1]));
  expect(kept.filter((percent) => percent > 96).length).toBeLessThanOrEqual(5);
  expect(Math.min(...kept)).toBeGreaterThan(85);
});

test("a judge that is wrong more often than not is not told to route", () => {
  for (const seed of seeds) {
    expect(advise(drawPrompts(judged(0.4, 0.3), { seed })).verdict).toBe("cannot-tell");
  }
});

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
    sentence:
      "These labels are inconclusive: APGR is 0.5 (0.5 to 0.5); without decisions it is 0.5. About 200 labels may suffice.",
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

test("models that complement each other are worth routing if the dear one is better", () => {
  const world: World = (random) => {
    const isHard = isDrawn(random, 0.65);
    return { quality: isHard ? two(0, 1) : two(1, 0), tier: upOr(isHard) };
  };
  for (const seed of seeds) expect(advise(drawPrompts(world, { seed })).verdict).toBe("route");
});

test("models of equal means are not worth routing, however good the judge is", () => {
  for (const skill of [0.5, 0.85]) {
    expect(advise(drawPrompts(complementary(skill))).sentence).toBe(bestIsCheapest);
  }
});

test("each doubt has a number of labels that may suffice", () => {
  const sets = seeds.flatMap((seed) =>
    [0.3, 0.45, 0.5, 0.55].map((skill) => advise(drawPrompts(judged(0.4, skill), { seed }))),
  );
  const doubts = sets.filter(({ verdict }) => verdict === "cannot-tell");
  expect(doubts.length).toBeGreaterThan(40);
  for (const { sentence } of doubts)
    expect(sentence).toMatch(/ About [\d,]+ labels may suffice\.$/);
});

test("a middle tier that is better than both ends is no order of the prompts", () => {
  const world: World = (random) => ({
    quality: [0.5, 0.6, 0.5, 0.4],
    tier: upOr(isDrawn(random, 0.5)),
  });
  const { verdict, sentence } = advise(drawPrompts(world));
  expect(verdict).toBe("cannot-tell");
  expect(sentence).toContain("APGR is 0.5 (0.5 to 0.5)");
});

test("a routing that may cost more than always frontier is no advice", () => {
  const world: World = (random) => {
    const isHard = isDrawn(random, 0.4);
    const quality = isHard ? [0, 0, 1, 0.9] : [1, 1, 1, 0.9];
    return { quality, cost: [1, 1, 10, 2], tier: isHard ? 2 : 0 };
  };
  expect(advise(drawPrompts(world)).verdict).toBe("cannot-tell");
});

test("a tier that is better and cheaper than the routing is no advice for the routing", () => {
  const world: World = (random) => {
    const isHard = isDrawn(random, 0.4);
    const tier = upOr(isDrawn(random, 0.8) === isHard);
    return { quality: isHard ? [0, 0.2, 0.95, 0.9] : [1, 1, 1, 1], cost: [1, 2, 3, 10], tier };
  };
  for (const seed of seeds) {
    const { verdict, sentence } = advise(drawPrompts(world, { seed }));
    expect(verdict).toBe("cannot-tell");
    expect(sentence).toContain("the gain over a random mix at equal cost is -");
  }
});

test.each<[string, World]>([
  ["all prompts go to one tier", (random) => ({ ...judged(0.4, 1)(random), tier: 0 })],
  ["no tier costs anything", (random) => ({ ...judged(0.4, 0.8)(random), cost: [0, 0, 0, 0] })],
  ["all tiers cost the same", (random) => ({ ...judged(0.4, 0.8)(random), cost: [2, 2, 2, 2] })],
])("nothing is gained if %s", (_, world) => {
  for (const seed of seeds) {
    expect(advise(drawPrompts(world, { seed })).verdict).toBe("cannot-tell");
  }
});

test("one draw is not enough for advice at random", () => {
  const sets = seeds.map((seed) => advise(drawPrompts(dealt(0.3, 0.5), { seed }), 1));
  expect(sets.filter(({ verdict }) => verdict === "route").length).toBeLessThanOrEqual(1);
});
