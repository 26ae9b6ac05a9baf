import { LabelJoin } from "../input/join-labels.ts";
import { seededRandom, shuffle } from "../math/random.ts";
import { solveIncreasing } from "../math/special-functions.ts";
import { pickRecords } from "../pick-records.ts";
import { type LabelledRows, shareOfRows, toLabelledRows } from "../report/labelled-rows.ts";
import { shareOfYes } from "../report/share-of-yes.ts";
import { scoreRows } from "../report/score-report.ts";
import { clopperPearson } from "../thresholds/intervals.ts";
import { krippendorffAlpha } from "../scores/krippendorff.ts";
import { answersOf, columnIn, drawAnswer, labelled } from "./worlds.ts";

/** A world in which an interval is drawn often; it counts how often that misses the truth. */
export interface IntervalWorld {
  readonly name: string;
  /** The figure of so many rows, with its limits; NaN for none. */
  readonly draw: (n: number, random: () => number) => Drawn;
  readonly n: number;
}

interface Drawn {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** The true figure, if it is one of the drawn records. @default the figure of very many rows */
  readonly truth?: number;
}

interface DrawnRow {
  readonly p: number;
  readonly truth: boolean;
}

/** The figures of all records: the share of some of them that is hit, and its estimate from labels. */
const figures = {
  yes: {
    isOf: () => true,
    isHit: ({ truth }: DrawnRow) => truth,
    estimate: (labels: LabelledRows) => shareOfYes(labels),
  },
  accuracy: {
    isOf: () => true,
    isHit: ({ p, truth }: DrawnRow) => truth === p >= 0.5,
    estimate: (labels: LabelledRows) => scoreRows(labels).accuracy,
  },
  "found yes": {
    isOf: ({ truth }: DrawnRow) => truth,
    isHit: ({ p }: DrawnRow) => p >= 0.5,
    estimate: (labels: LabelledRows) => {
      const isCounted = (row: number) => labels.truth[row] === 1;
      const found = shareOfRows(labels, (row) => labels.top[row] === 1, { isCounted });
      return Number.isNaN(found.value) ? null : found;
    },
  },
};

type Figure = keyof typeof figures;

/** Labels some of many answers, at random or by strata, and estimates a figure of all. */
function drawShare(
  {
    judge,
    figure,
    isPicked,
    records,
  }: { judge: Judge; figure: Figure; isPicked: boolean; records: number },
  n: number,
  random: () => number,
): Drawn {
  const rows = Array.from({ length: records }, (_, at) =>
    Object.assign({ id: `r${at}` }, drawAnswer(judge, random)),
  );
  const table = answersOf(rows);
  const [column] = table.columns;
  if (column === undefined) throw new Error("no row was answered");
  const drawn = isPicked
    ? pickRecords(column, { budget: n, seed: Math.floor(1e6 * random()) })
    : shuffle(rows.slice(), random).slice(0, n);
  const join = new LabelJoin(table);
  for (const one of drawn) {
    const { truth } = rows[column.rowOf(one.id) as number] as (typeof rows)[number];
    const weight = "drawn" in one ? { drawn: one.drawn } : {};
    join.add({ line: 1, value: { id: one.id, truth, ...weight } }, "labels");
  }
  const { isOf, isHit, estimate } = figures[figure];
  const none = { value: Number.NaN, low: Number.NaN, high: Number.NaN };
  const found = estimate(toLabelledRows(columnIn(join))) ?? none;
  const counted = rows.filter(isOf);
  return { ...found, truth: counted.filter(isHit).length / counted.length };
}

type Judge = Parameters<typeof drawAnswer>[0];

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

const answered = {
  "yes in 50 %": { mean: 0, spread: 2 },
  "yes in 50 %, strong": { mean: 0, spread: 5 },
  "yes in 10 %, strong": { mean: -5, spread: 4 },
  "yes in 10 %, printed too high": { mean: -3.5, spread: 2, moved: 1.5 },
};
const rare = { "yes in 2 %": { mean: -6, spread: 2.2 } };
// Its answers know nothing: the spread of the printed log odds is not that of the true ones.
const worthless = { "yes in 10 %, worthless": { mean: -2.2, spread: 0, noise: 2 } };

function shareWorld(figure: Figure, isPicked: boolean, { records = 3000, labels = 200 } = {}) {
  return ([name, judge]: [string, Judge]): IntervalWorld => ({
    name: `${figure} of ${records} by ${isPicked ? "pick" : "labels at random"}, ${name}`,
    n: labels,
    draw: (n, random) => drawShare({ judge, figure, isPicked, records }, n, random),
  });
}

const allJudges = Object.entries({ ...answered, ...rare, ...worthless });

/** Worlds of shares of all records: labels at random, and those of `pick`, also of judges with rare mistakes and of worthless ones. */
export const shareWorlds: readonly IntervalWorld[] = [
  ...allJudges.map(shareWorld("yes", false)),
  ...allJudges.map(shareWorld("yes", false, { labels: 60 })),
  ...allJudges.map(shareWorld("yes", true)),
  ...allJudges.map(shareWorld("accuracy", true)),
  ...Object.entries(rare).map(shareWorld("found yes", true, { labels: 40 })),
  ...allJudges.map(shareWorld("yes", false, { records: 300 })),
  ...allJudges.map(shareWorld("yes", true, { records: 300 })),
];

/** Returns the share of the rounds with an interval, and of those that miss the figure of very many rows. */
export function playIntervals({ draw, n }: IntervalWorld, rounds: number, rows = 200_000) {
  const drawn = Array.from({ length: rounds }, (_, seed) => draw(n, seededRandom(seed + 2)));
  const shown = drawn.filter(({ low }) => !Number.isNaN(low));
  const isOfRecords = drawn.some(({ truth }) => truth !== undefined);
  const known = isOfRecords ? 0 : draw(rows, seededRandom(1)).value;
  const missed = shown.filter(({ low, high, truth = known }) => low > truth || high < truth);
  return {
    shown: shown.length / rounds,
    missed: missed.length / Math.max(1, shown.length),
    /** How many labels alone have intervals as narrow; 0 if the figure is no share of records. */
    worth: isOfRecords
      ? shown.reduce((sum, one) => sum + worthOf(one), 0) / Math.max(1, shown.length)
      : 0,
  };
}

/** Returns how many labels alone have an exact interval as narrow. */
function worthOf({ value, low, high }: Drawn): number {
  const lessWidth = (labels: number) => {
    const alone = clopperPearson(value * labels, labels);
    return alone.low - alone.high;
  };
  return solveIncreasing(lessWidth, low - high, [1, 1e5]);
}
