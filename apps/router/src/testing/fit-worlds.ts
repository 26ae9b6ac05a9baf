import { seededRandom } from "evaluator-kit";
import { toFeatures } from "../fit/features.ts";
import { fitLabels } from "../fit/fit-labels.ts";
import { predict } from "../fit/ridge.ts";
import type { LabelledPrompt } from "../labels/tier-points.ts";

/** A made-up world of prompts, of which the probabilities of good answers are known. */
interface World {
  readonly name: string;
  readonly labels: number;
  /** The share of hard prompts, and the probabilities that the cheap and the dear model solve a prompt. */
  readonly hard: number;
  readonly cheapHard: number;
  readonly cheapEasy: number;
  readonly dear: number;
  /** The share of words that are typical of hard or of easy prompts. */
  readonly signal: number;
  /** The standard deviation of the logarithm of costs. */
  readonly tail?: number;
  /** Scores between 0 and 1 instead of right and wrong. */
  readonly isGraded?: boolean;
}

const usual = { labels: 400, hard: 0.3, cheapHard: 0.2, cheapEasy: 0.92, dear: 0.92, signal: 0.15 };

/** Worlds in which a promise may be made, and may be broken. */
export const fitWorlds: readonly World[] = [
  { ...usual, name: "clear words" },
  { ...usual, name: "weak words", labels: 800, signal: 0.04 },
  { ...usual, name: "few labels", labels: 160, signal: 0.3 },
  { ...usual, name: "rare gaps", labels: 250, hard: 0.06, cheapHard: 0, cheapEasy: 1, dear: 1 },
  {
    ...usual,
    name: "rare gaps, weak words",
    labels: 200,
    hard: 0.04,
    cheapHard: 0,
    cheapEasy: 1,
    dear: 1,
    signal: 0.05,
  },
  { ...usual, name: "heavy costs", tail: 1.5 },
  { ...usual, name: "graded scores", isGraded: true },
];

/** A world whose words mean nothing: only chance can find an order. */
export const noiseWorld: World = {
  ...usual,
  name: "noise",
  signal: 0,
  cheapEasy: 0.7,
  cheapHard: 0.7,
};

interface Drawn {
  readonly text: string;
  readonly costs: readonly [cheap: number, dear: number];
  readonly solved: readonly [cheap: number, dear: number];
}

type Random = () => number;

function drawPrompt(world: World, random: Random, id: number): Drawn {
  const isHard = random() < world.hard;
  const words = Array.from({ length: 5 + Math.floor(random() * 30) }, () => {
    if (random() < world.signal) return `${isHard ? "h" : "e"}${Math.floor(random() * 20)}`;
    return `w${Math.floor(2000 * random() * random())}`;
  });
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const cost = Math.exp((world.tail ?? 0) * normal);
  const cheap = isHard ? world.cheapHard : world.cheapEasy;
  return {
    text: `${words.join(" ")} ${id}`,
    costs: [cost, 20 * cost],
    solved: [cheap, world.dear],
  };
}

function toLabel(world: World, drawn: Drawn, random: Random): LabelledPrompt {
  const luck = random(); // shared: an easy prompt is easy for both
  const scoreOf = (share: number) =>
    world.isGraded === true ? share * (0.5 + luck / 2) : Number(luck < share);
  const [cheap, dear] = [0, 1].map((at) => {
    return { quality: scoreOf(drawn.solved[at] ?? 0), cost: drawn.costs[at] ?? 0 };
  }) as [LabelledPrompt["cheap"], LabelledPrompt["dear"]];
  return labelOf(drawn.text, { cheap, dear });
}

/** Returns a label whose cheaper two tiers are one model, and whose dearer two are another. */
export function labelOf(
  text: string,
  { cheap, dear }: Pick<LabelledPrompt, "cheap" | "dear">,
): LabelledPrompt {
  const tiers = { nano: cheap, fast: cheap, balanced: dear, frontier: dear };
  const known = { category: null, models: 2, probabilities: null, isRepeat: false } as const;
  return {
    ...known,
    tiers,
    cheapest: "nano",
    cheap,
    dear,
    text,
    length: text.length,
    rightTier: "nano",
  };
}

const options = { keepQuality: 0.97, confidence: 0.95 };

/** Labels a world, fits it, and compares the promise with the fit's quality and saving on new prompts. */
export function playWorld(world: World, seed: number, fresh = 5000) {
  const random = seededRandom(seed);
  const labels = Array.from({ length: world.labels }, (_, id) =>
    toLabel(world, drawPrompt(world, random, id), random),
  );
  const { verdict, promise, fit } = fitLabels(labels, { ...options, seed });
  if (fit === null) return { verdict, isBroken: false };
  const sums = { quality: 0, frontier: 0, cost: 0, dear: 0 };
  for (let id = 0; id < fresh; id += 1) {
    const { text, costs, solved } = drawPrompt(world, random, world.labels + id);
    const used = predict(fit, toFeatures(text, null)) >= fit.threshold ? 1 : 0;
    sums.quality += solved[used];
    sums.frontier += solved[1];
    sums.cost += costs[used];
    sums.dear += costs[1];
  }
  const keeps = sums.quality / sums.frontier >= options.keepQuality;
  const saves = 1 - sums.cost / sums.dear >= promise.saving;
  return { verdict, isBroken: !keeps || !saves, keeps, saves };
}
