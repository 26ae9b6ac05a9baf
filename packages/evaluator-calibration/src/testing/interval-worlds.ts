import { seededRandom } from "../math/random.ts";
import { scoreRows } from "../report/score-report.ts";
import { krippendorffAlpha } from "../scores/krippendorff.ts";
import { drawAnswer, labelled } from "./worlds.ts";

/** A world in which an interval is drawn often; it counts how often that misses the truth. */
export interface IntervalWorld {
  readonly name: string;
  /** The figure of so many rows, with its limits; NaN for none. */
  readonly draw: (
    n: number,
    random: () => number,
  ) => { readonly value: number; readonly low: number; readonly high: number };
  readonly n: number;
}

/** The scores of a judge's answers. */
function drawScores(judge: Parameters<typeof drawAnswer>[0], n: number, random: () => number) {
  const rows = Array.from({ length: n }, (_, at) =>
    Object.assign({ id: `r${at}` }, drawAnswer(judge, random)),
  );
  return scoreRows(labelled(rows));
}

/** The labels of three labelers, each of which turns some. */
function drawAlpha(share: number, n: number, random: () => number) {
  const records = Array.from({ length: n }, () => {
    const isYes = random() < share;
    return [1, 2, 3].map(() => Number(isYes !== random() < 0.1));
  });
  const none = { value: Number.NaN, low: Number.NaN, high: Number.NaN };
  return krippendorffAlpha(records, (one, other) => Number(one !== other)) ?? none;
}

const judges = {
  "yes in 50 %": { mean: 0, spread: 2 },
  "yes in 10 %": { mean: -3.5, spread: 2 },
  "yes in 2 %, strong": { mean: -9, spread: 4 },
  "yes in 2 %, printed too high": { mean: -6, spread: 2.2, moved: 2.5 },
};

/** Worlds of the intervals of skill, of the AUC and of the agreement of labelers. */
export const intervalWorlds: readonly IntervalWorld[] = [
  ...Object.entries(judges).flatMap(([name, judge]) =>
    [150, 1500].flatMap((n) => [
      {
        name: `skill, ${name}`,
        n,
        draw: (rows: number, random: () => number) => drawScores(judge, rows, random).skill,
      },
      {
        name: `AUC, ${name}`,
        n,
        draw: (rows: number, random: () => number) => drawScores(judge, rows, random).auc,
      },
    ]),
  ),
  ...[0.5, 0.1].flatMap((share) =>
    [100, 1000].map((n) => ({
      name: `alpha of three labelers, ${100 * share} % yes`,
      n,
      draw: (rows: number, random: () => number) => drawAlpha(share, rows, random),
    })),
  ),
];

/** Returns the share of the rounds with an interval, and of those that miss the figure of very many rows. */
export function playIntervals({ draw, n }: IntervalWorld, rounds: number, rows = 200_000) {
  const truth = draw(rows, seededRandom(1)).value;
  const drawn = Array.from({ length: rounds }, (_, seed) => draw(n, seededRandom(seed + 2)));
  const shown = drawn.filter(({ low }) => !Number.isNaN(low));
  const missed = shown.filter(({ low, high }) => low > truth || high < truth);
  return { shown: shown.length / rounds, missed: missed.length / Math.max(1, shown.length) };
}
