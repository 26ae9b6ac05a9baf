import { binomialAtMost } from "../math/special-functions.ts";
import type { LabelCounts, PromiseEvidence } from "./promise-evidence.ts";

/** Records of a known number, some of which are labelled in a random order. */
interface Part {
  readonly acted: number;
  /** The share of wrong records if the printed values are true. */
  readonly printedRisk: number;
}

/** For more records, a promise about records like them takes as many labels. */
const MOST_RECORDS = 10_000;

// Most of the stake on nearly no risk: few of a small number of records can be wrong at all. With half of it, a first promise took
// 71 to 88 labels instead of 63 to 75, and no more backlogs had one.
/** Each bet is that the risk is a share of the promised one, with a part of the stake. */
const RISK_BETS = [
  [0.01, 0.95],
  [0.3, 0.05],
] as const;

/** A printed risk may be too low by so much; it decides about the number of labels only. */
const PRINTED_DOUBT = 0.004;

/** Below this share of the highest number most records need a label, so the first such number is the last tried. */
const ENOUGH_SHARE = 0.85;

/** A plan that saves at least this share of the labels that the best one saves is chosen if it takes fewer. */
const NEARLY_BEST = 0.9;

const logFactorials = [0];

function logFactorial(n: number): number {
  for (let nextNumber = logFactorials.length; nextNumber <= n; nextNumber += 1) {
    logFactorials.push((logFactorials[nextNumber - 1] as number) + Math.log(nextNumber));
  }
  return logFactorials[n] as number;
}

/** The log of the ways to draw some of a number in order; -Infinity if there are too few. */
function logDraws(recordCount: number, drawnCount: number): number {
  return drawnCount > recordCount
    ? -Infinity
    : logFactorial(recordCount) - logFactorial(recordCount - drawnCount);
}

/**
 * The evidence that at most `most` of `records` are wrong: the likelihood of the labels under a mixture of fewer wrong ones,
 * over that of one more than `most`. If more are wrong, it is a likelihood ratio of labels without replacement, and ever
 * reaches 20 in at most 1 of 20 draws, at whichever label one looks (Waudby-Smith and Ramdas, 2020).
 */
export class FixedRecords implements PromiseEvidence {
  readonly knowsCopies = true;
  readonly records: number;
  readonly most: number;
  readonly #maxRisk: number;
  /** The stake on each number of wrong records, from 0 to `most`. */
  readonly #stakes: Float64Array;

  constructor(records: number, mostWrong: number, maxRisk: number) {
    this.records = records;
    this.most = mostWrong;
    this.#maxRisk = maxRisk;
    this.#stakes = new Float64Array(mostWrong + 1);
    for (const [riskShare, betStake] of RISK_BETS) this.#placeBet(riskShare * maxRisk, betStake);
  }

  /** Bets on a risk: the binomial chances of 0 to `most` wrong records. */
  #placeBet(betRisk: number, betStake: number): void {
    const { records } = this;
    const chances = Array.from(this.#stakes, (_, wrongCount) => {
      const logWays = logDraws(records, wrongCount) - logFactorial(wrongCount);
      return Math.exp(
        logWays + wrongCount * Math.log(betRisk) + (records - wrongCount) * Math.log(1 - betRisk),
      );
    });
    const totalChance = chances.reduce((runningSum, wrongChance) => runningSum + wrongChance, 0);
    for (const [wrongCount, wrongChance] of chances.entries()) {
      this.#stakes[wrongCount] =
        (this.#stakes[wrongCount] as number) + (betStake * wrongChance) / totalChance;
    }
  }

  /** Returns the evidence after some labels; 0 if they alone have more wrong ones. */
  evidenceOf({ n, wrong }: LabelCounts): number {
    if (wrong > this.most) return 0;
    const toLogarithm = (wrongTotal: number) =>
      logDraws(wrongTotal, wrong) + logDraws(this.records - wrongTotal, n - wrong);
    const refutedValue = toLogarithm(this.most + 1);
    if (refutedValue === -Infinity) return Infinity;
    let evidence = 0;
    for (let wrongTotal = wrong; wrongTotal <= this.most; wrongTotal += 1) {
      evidence +=
        (this.#stakes[wrongTotal] as number) * Math.exp(toLogarithm(wrongTotal) - refutedValue);
    }
    return evidence;
  }

  /** Returns the fewest labels, so many of them wrong, that have the evidence; all records if none have it. */
  labelsFor(neededEvidence: number, wrongCount: number): number {
    const hasEvidence = (n: number) => this.evidenceOf({ n, wrong: wrongCount }) >= neededEvidence;
    return findFewest(wrongCount, this.records, hasEvidence);
  }

  /** Returns whether at most the promised share of the records without a label is wrong if at most `most` of all are. */
  keeps({ n, wrong }: LabelCounts): boolean {
    const remainingCount = this.records - n;
    return (
      remainingCount > 0 &&
      wrong <= this.most &&
      this.most - wrong <= this.#maxRisk * remainingCount + 1e-9
    );
  }

  moreLabels({ n, wrong }: LabelCounts, expectedRisk: number, neededEvidence: number): number {
    if (expectedRisk >= this.#maxRisk) return Infinity;
    const countsAfter = (moreCount: number) => ({
      n: n + moreCount,
      wrong: wrong + Math.floor(expectedRisk * moreCount),
    });
    const hasEvidence = (moreCount: number) =>
      this.evidenceOf(countsAfter(moreCount)) >= neededEvidence;
    const fewestLabels = findFewest(0, this.records - n, hasEvidence);
    return this.keeps(countsAfter(fewestLabels)) ? fewestLabels : Infinity;
  }

  chanceOf({ n, wrong }: LabelCounts): number {
    return n < this.records ? Math.max(0, this.most - wrong) / (this.records - n) : 0;
  }
}

/** Returns the lowest count above `low` that is enough, by bisection; `high` if no lower one is. */
function findFewest(
  lowCount: number,
  highCount: number,
  isEnough: (labelCount: number) => boolean,
): number {
  let [tooFewCount, enoughCount] = [lowCount, highCount];
  while (enoughCount - tooFewCount > 1) {
    const middleCount = (tooFewCount + enoughCount) >> 1;
    if (isEnough(middleCount)) enoughCount = middleCount;
    else tooFewCount = middleCount;
  }
  return enoughCount;
}

/** How many wrong records may be among some, so that labels of a part can show it, and what that takes. */
interface Plan {
  readonly fixed: FixedRecords;
  /** The chance that labels show it if the printed risk is true. */
  readonly chance: number;
  /** The labels that it takes if all are right. */
  readonly labels: number;
}

/**
 * Returns how many of some records may be wrong at most, decided before any label: the number by which labels are likely to
 * save the most others, if at most `maxRisk` of the records without a label may be wrong. Null
 * if no number has that.
 */
function planFixedRecords(
  { acted: actedCount, printedRisk }: Part,
  maxRisk: number,
  neededEvidence: number,
): Plan | null {
  const highest = Math.floor(maxRisk * actedCount + 1e-9);
  let bestPlan: Plan | null = null;
  for (let mostWrong = highest; mostWrong >= 1; mostWrong -= 1) {
    const fixedRecords = new FixedRecords(actedCount, mostWrong, maxRisk);
    const labelPaths = [0, 1, 2, 3, 4]
      .map((wrongCount) => ({
        wrong: wrongCount,
        n: fixedRecords.labelsFor(neededEvidence, wrongCount),
      }))
      .filter((labelPath) => fixedRecords.keeps(labelPath));
    const [firstPath] = labelPaths;
    if (firstPath === undefined) continue;
    const chances = labelPaths.map(({ wrong, n }) =>
      binomialAtMost(wrong, n, printedRisk + PRINTED_DOUBT),
    );
    const bestChance = Math.max(...chances);
    if (bestChance > 1.02 * (bestPlan?.chance ?? 0))
      bestPlan = { fixed: fixedRecords, chance: bestChance, labels: firstPath.n };
    if (mostWrong < ENOUGH_SHARE * highest) break;
  }
  return bestPlan;
}

/** Returns the plan of each part of a region. @throws RangeError if it has too many records. */
export function planRegion(riskRegion: readonly Part[], maxRisk: number, neededEvidence: number) {
  const records = riskRegion.at(-1)?.acted ?? 0;
  if (records <= MOST_RECORDS)
    return riskRegion.map((regionPart) => planFixedRecords(regionPart, maxRisk, neededEvidence));
  const problem = `${records} records may be acted on; a promise about exactly these takes at most ${MOST_RECORDS}`;
  throw new RangeError(`${problem}. One about records like them takes as many labels.`);
}

/** Returns the index of the plan that takes the fewest labels of those that save about the most; none without a plan. */
export function choosePlan(recordPlans: readonly Plan[]): readonly number[] {
  const topChance = Math.max(0, ...recordPlans.map(({ chance }) => chance));
  const goodPlans = [...recordPlans.keys()].filter(
    (planIndex) => (recordPlans[planIndex] as Plan).chance >= NEARLY_BEST * topChance,
  );
  const byLabels = (firstPlan: number, secondPlan: number) =>
    (recordPlans[firstPlan] as Plan).labels - (recordPlans[secondPlan] as Plan).labels;
  return goodPlans.toSorted(byLabels).slice(0, 1);
}
