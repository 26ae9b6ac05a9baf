import { binomialAtMost } from "../math/special-functions.ts";
import type { EvidencePath, LabelCounts, PromiseEvidence } from "./promise-evidence.ts";

/** Records of a known number, some of which are labelled in a random order. */
interface Part {
  readonly acted: number;
  /** How many records have each state, if some share one: a label is about all of them. */
  readonly copies: readonly number[] | undefined;
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

/** So many numbers from the highest to 0, of which {@link ENOUGH_SHARE} are tried: each, if 5 % of at most 1,600 records may be wrong. */
const NUMBERS_TRIED = 80;

/** A plan that saves at least this share of the labels that the best one saves is chosen if it takes fewer. */
const NEARLY_BEST = 0.9;

const logFactorials = [0];

/** The log of n!, interpolated between whole numbers. */
function logFactorial(n: number): number {
  const whole = Math.floor(n);
  for (let next = logFactorials.length; next <= whole; next += 1) {
    logFactorials.push((logFactorials[next - 1] as number) + Math.log(next));
  }
  const logarithm = logFactorials[whole] as number;
  return whole === n ? logarithm : logarithm + (n - whole) * Math.log(whole + 1);
}

/** The log of the ways to draw some of a number in order; -Infinity if there are too few. */
function logDraws(all: number, drawnCount: number): number {
  return drawnCount > all ? -Infinity : logFactorial(all) - logFactorial(all - drawnCount);
}

/**
 * The evidence that at most `most` of `records` are wrong: the likelihood of the labels under a mixture of fewer wrong ones,
 * over that of one more than `most`. If more are wrong, it is a likelihood ratio of labels without replacement, and ever
 * reaches 20 in at most 1 of 20 draws, at whichever label one looks (Waudby-Smith and Ramdas, 2020). Its counts are of states.
 */
export class FixedRecords implements PromiseEvidence {
  readonly knowsCopies = true;
  readonly records: number;
  readonly most: number;
  /** How many records are probably known after so many labels. */
  readonly #knownRecords: Float64Array;
  readonly #maxRisk: number;
  /** The stake on each number of wrong records, from 0 to `most`. */
  readonly #stakes: Float64Array;
  /** The numbers that have almost all of it: the others would be most of the time that a plan takes. */
  readonly #likely: readonly number[];

  constructor(most: number, maxRisk: number, known: Float64Array) {
    this.records = Math.round(known.at(-1) as number);
    this.most = most;
    this.#knownRecords = known;
    this.#maxRisk = maxRisk;
    this.#stakes = new Float64Array(most + 1);
    for (const [riskShare, betStake] of RISK_BETS) this.#placeBet(riskShare * maxRisk, betStake);
    this.#likely = [...this.#stakes.keys()].filter((all) => (this.#stakes[all] as number) > 1e-9);
  }

  /** Bets on a risk: the binomial chances of 0 to `most` wrong records. */
  #placeBet(risk: number, stake: number): void {
    const { records } = this;
    const chances = Array.from(this.#stakes, (_, wrong) => {
      const ways = logDraws(records, wrong) - logFactorial(wrong);
      return Math.exp(ways + wrong * Math.log(risk) + (records - wrong) * Math.log(1 - risk));
    });
    const total = chances.reduce((sum, chance) => sum + chance, 0);
    for (const [wrong, chance] of chances.entries()) {
      this.#stakes[wrong] = (this.#stakes[wrong] as number) + (stake * chance) / total;
    }
  }

  /** Returns the evidence of labels one by one, each of which is about all records of its state. */
  startPath(): EvidencePath {
    return new RecordPath(this.records, this.most, this.#stakes.slice());
  }

  /** Returns the evidence after some labels if each is about as many records; 0 if they alone have more wrong ones. */
  evidenceOf({ n, wrong }: LabelCounts): number {
    const copies = this.#copiesOf(n);
    const least = Math.ceil(copies * wrong - 1e-9);
    if (least > this.most) return 0;
    const toLogarithm = (wrongTotal: number) =>
      logDraws(wrongTotal / copies, wrong) +
      logDraws((this.records - wrongTotal) / copies, n - wrong);
    const refutedValue = toLogarithm(this.most + 1);
    if (refutedValue === -Infinity) return Infinity;
    let evidence = 0;
    for (const wrongTotal of this.#likely) {
      if (wrongTotal < least) continue;
      evidence +=
        (this.#stakes[wrongTotal] as number) * Math.exp(toLogarithm(wrongTotal) - refutedValue);
    }
    return evidence;
  }

  /** Returns the fewest labels, so many of them wrong, that have the evidence; all if none have it. */
  labelsFor(neededEvidence: number, wrong: number): number {
    const hasEvidence = (n: number) => this.evidenceOf({ n, wrong }) >= neededEvidence;
    return findFewest(wrong, this.#labels, hasEvidence);
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

  /** Returns whether so many labels probably keep it. */
  likelyKeeps({ n, wrong }: LabelCounts): boolean {
    const copies = this.#copiesOf(n);
    return this.keeps({ n: copies * n, wrong: copies * wrong });
  }

  /** The most labels that there can be. */
  get #labels(): number {
    return this.#knownRecords.length - 1;
  }

  /** Returns how many records each of so many labels is probably about. */
  #copiesOf(n: number): number {
    return n === 0 ? 1 : (this.#knownRecords[n] as number) / n;
  }

  moreLabels({ n, wrong }: LabelCounts, risk: number, neededEvidence: number): number {
    if (risk >= this.#maxRisk) return Infinity;
    const after = (more: number) => ({ n: n + more, wrong: wrong + Math.floor(risk * more) });
    const hasEvidence = (more: number) => this.evidenceOf(after(more)) >= neededEvidence;
    const fewest = findFewest(0, this.#labels - n, hasEvidence);
    return this.likelyKeeps(after(fewest)) ? fewest : Infinity;
  }
}

/**
 * The evidence of states in the order in which a random order of their records meets them. The next one is of wrong records with the
 * share of these in the records that are left, whatever the sizes, so that each label is a fair bet against `most + 1` wrong
 * records. For states of one record it is the likelihood ratio.
 */
class RecordPath implements EvidencePath {
  readonly #records: number;
  readonly #most: number;
  /** What each bet on a number of wrong records holds. */
  readonly #stakes: Float64Array;
  #labelled = 0;
  #wrong = 0;

  constructor(records: number, most: number, stakes: Float64Array) {
    this.#records = records;
    this.#most = most;
    this.#stakes = stakes;
  }

  get chance(): number {
    return Math.min(1, Math.max(0, this.#most - this.#wrong) / (this.#records - this.#labelled));
  }

  add(records: number, isWrong: boolean): number {
    const left = this.#records - this.#labelled;
    const toChance = (all: number) => Math.min(1, Math.max(0, all - this.#wrong) / left);
    const refutedChance = toChance(this.#most + 1);
    this.#labelled += records;
    for (const [all, stake] of this.#stakes.entries()) {
      const chance = toChance(all);
      const rightGain = chance === 1 ? 0 : (1 - chance) / (1 - refutedChance);
      const gain = isWrong ? chance / refutedChance : rightGain;
      // A right label that is impossible if more are wrong is endless evidence.
      this.#stakes[all] = stake === 0 || gain === 0 ? 0 : stake * gain;
    }
    if (isWrong) this.#wrong += records;
    if (this.#wrong > this.#most) this.#stakes.fill(0);
    return this.#stakes.reduce((sum, stake) => sum + stake, 0);
  }
}

/** Returns the lowest count above `low` that is enough, by bisection; `high` if no lower one is. */
function findFewest(low: number, high: number, isEnough: (count: number) => boolean): number {
  let [tooFew, enough] = [low, high];
  while (enough - tooFew > 1) {
    const middle = (tooFew + enough) >> 1;
    if (isEnough(middle)) enough = middle;
    else tooFew = middle;
  }
  return enough;
}

/**
 * Returns how many records are probably known after 0, 1, 2 and more labels. A random order of the records meets the states with
 * many records first. The actual order must not decide about a plan, only the numbers do.
 */
function listKnown({ acted: records, copies }: Part): Float64Array {
  if (copies === undefined) return Float64Array.from({ length: records + 1 }, (_, n) => n);
  const left = new Map<number, number>();
  for (const size of copies) left.set(size, (left.get(size) ?? 0) + 1);
  const known = new Float64Array(copies.length + 1);
  for (let n = 1; n < copies.length; n += 1) {
    const rest = records - (known[n - 1] as number);
    let size = 0;
    for (const [each, states] of left) {
      const chance = Math.min(states, (each * states) / rest);
      size += each * chance;
      left.set(each, states - chance);
    }
    known[n] = Math.min(records, (known[n - 1] as number) + size);
  }
  known[copies.length] = records;
  return known;
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
function planFixedRecords(part: Part, maxRisk: number, neededEvidence: number): Plan | null {
  const highest = Math.floor(maxRisk * part.acted + 1e-9);
  const known = listKnown(part);
  const step = Math.ceil(highest / NUMBERS_TRIED);
  let bestPlan: Plan | null = null;
  for (let most = highest; most >= 1; most -= step) {
    const fixedRecords = new FixedRecords(most, maxRisk, known);
    const paths = [0, 1, 2, 3, 4]
      .map((wrong) => ({ wrong, n: fixedRecords.labelsFor(neededEvidence, wrong) }))
      .filter((path) => fixedRecords.likelyKeeps(path));
    const [first] = paths;
    if (first === undefined) continue;
    const chances = paths.map(({ wrong, n }) =>
      binomialAtMost(wrong, n, part.printedRisk + PRINTED_DOUBT),
    );
    const chance = Math.max(...chances);
    if (chance > 1.02 * (bestPlan?.chance ?? 0))
      bestPlan = { fixed: fixedRecords, chance, labels: first.n };
    if (most < ENOUGH_SHARE * highest) break;
  }
  return bestPlan;
}

/** Returns the plan of each part of a region. @throws RangeError if it has too many records. */
export function planRegion(region: readonly Part[], maxRisk: number, neededEvidence: number) {
  const records = region.at(-1)?.acted ?? 0;
  if (records <= MOST_RECORDS)
    return region.map((part) => planFixedRecords(part, maxRisk, neededEvidence));
  const problem = `${records} records may be acted on; a promise about exactly these takes at most ${MOST_RECORDS}`;
  throw new RangeError(`${problem}. One about records like them takes as many.`);
}

/** Returns the index of the plan that takes the fewest labels of those that save about the most; none without a plan. */
export function choosePlan(plans: readonly Plan[]): readonly number[] {
  const top = Math.max(0, ...plans.map(({ chance }) => chance));
  const good = [...plans.keys()].filter((at) => (plans[at] as Plan).chance >= NEARLY_BEST * top);
  const byLabels = (one: number, other: number) =>
    (plans[one] as Plan).labels - (plans[other] as Plan).labels;
  return good.toSorted(byLabels).slice(0, 1);
}
