import { seededRandom, shuffle } from "../math/random.ts";
import { checkRows, type Numbers, rejectValue } from "../math/rows.ts";
import { choosePlan, FixedRecords, planRegion } from "./fixed-records.ts";
import { type Bound, checkShare } from "./intervals.ts";
import { type PromiseAction, toRegion } from "./learn-then-test.ts";
import { countRisks, toHundredths } from "./risk-coverage.ts";
import {
  addLabel,
  computeEvidence,
  evidenceOfRisk,
  type LabelCounts,
  labelsFor,
  noLabels,
  type PromiseEvidence,
} from "./promise-evidence.ts";
import { listSearches, type Search } from "./promise-searches.ts";
import { createRiskAlarm } from "./risk-alarm.ts";

/** How labels are drawn for the promise of one action. */
export interface PromiseDrawOptions extends Bound {
  readonly action: PromiseAction["action"];
  /** The same seed draws the same records from the same pool. */
  readonly seed: number;
  /** How many actions share 1 − confidence. @default 1 */
  readonly shares?: number;
  /**
   * The promise is about exactly these records: at most `maxRisk` of those without a label is wrong. Otherwise it is
   * about records like them. @default false
   */
  readonly isExact?: boolean;
  /**
   * The name of each record's state: of records with one name only one is drawn, and its label counts for each of them.
   * @default each record has its own
   */
  readonly copies?: readonly string[] | undefined;
}

/** A threshold of the region, and the labels at it and above that count there. */
type Test = ReturnType<typeof toRegion>[number] &
  typeof noLabels & {
    readonly source: PromiseEvidence;
  };

/**
 * Returns a draw of records to label for the promise of one action. The promise may be looked at after each
 * label: with the requested confidence it is never wrong at any look. Later labels that contradict it withdraw it,
 * which happens to a promise that holds with a chance of at most 1 − confidence.
 *
 * @param printedValues - The printed probability of each record of the pool: of yes, or for `top` the largest.
 * @throws RangeError that names the index of an invalid probability, or the invalid option.
 * @example
 * const draw = createPromiseDraw(printed, { action: "yes", maxRisk: 0.05, seed: 7 });
 * for (let index = draw.next(); index !== null && draw.state.promised === null; index = draw.next()) {
 *   draw.add(index, await isWrong(records[index]));
 * }
 */
export function createPromiseDraw(
  printedValues: Numbers,
  options: PromiseDrawOptions,
): PromiseDraw {
  return new PromiseDraw(printedValues, options);
}

/**
 * Every threshold counts its labels along one random order of the records. So the order in which labels are
 * made changes nothing, and the evidence at a threshold is a path that looking cannot bend.
 */
export class PromiseDraw {
  readonly #riskBound: Required<Bound>;
  /** How sure each record is of the action, in hundredths. */
  readonly #sureness: Uint8Array;
  /** The records that may be acted on, in random order. */
  readonly #order: readonly number[];
  /** The thresholds of the region, from the highest down. */
  readonly #tests: readonly Test[];
  readonly #searches: readonly Search[];
  /** The records with the same state, for each record that has any. */
  readonly #copies = new Map<number, readonly number[]>();
  /** Whether acting on a labelled record is wrong; each copy is there. */
  readonly #labels = new Map<number, boolean>();
  /** Drawn or labelled. */
  readonly #takenIndexes = new Set<number>();
  #from: number | null = null;

  constructor(printedValues: Numbers, options: PromiseDrawOptions) {
    const { action, maxRisk, confidence = 0.95, seed, shares = 1, isExact = false } = options;
    checkShare("maxRisk", maxRisk);
    checkShare("confidence", confidence);
    if (!Number.isInteger(shares) || shares < 1) {
      rejectValue("shares", shares, "a count of actions");
    }
    checkRows(printedValues, new Uint8Array(printedValues.length), { names: ["printed", "rows"] });
    this.#riskBound = { maxRisk, confidence };
    const hundredths = Uint8Array.from(printedValues, toHundredths);
    this.#sureness = action === "no" ? hundredths.map((hundredth) => 100 - hundredth) : hundredths;
    const sureness = Float64Array.from(this.#sureness, (hundredth) => hundredth / 100);
    const region = toRegion(countRisks(sureness, new Uint8Array(printedValues.length)), maxRisk);
    const need = shares / (1 - confidence);
    const { copies } = options;
    const parts = region.map((part) =>
      Object.assign(part, { copies: this.#listSizes(part, copies) }),
    );
    const plans = isExact ? planRegion(parts, maxRisk, need) : null;
    const promisedParts = parts.filter(
      (_, partIndex) => plans === null || plans[partIndex] !== null,
    );
    const lowestHundredths = promisedParts.at(-1)?.at ?? 101;
    const records = [...this.#sureness.keys()].filter((index) =>
      this.#isFrom(index, lowestHundredths),
    );
    this.#order = shuffle(records, seededRandom(seed));
    const copyGroups =
      copies === undefined ? [] : Map.groupBy(this.#order, (index) => copies[index]).values();
    for (const copyGroup of copyGroups) {
      if (copyGroup.length > 1) for (const index of copyGroup) this.#copies.set(index, copyGroup);
    }
    this.#tests = parts.flatMap((part, partIndex) => {
      const evidence =
        plans === null
          ? evidenceOfRisk(maxRisk, part.copies?.length ?? part.acted)
          : plans[partIndex]?.fixed;
      return evidence === undefined ? [] : Object.assign({ source: evidence }, part, noLabels);
    });
    this.#searches =
      plans === null
        ? listSearches(this.#tests, { need, confidence, records: printedValues.length })
        : choosePlan(plans.filter((recordPlan) => recordPlan !== null)).map((start) => ({
            start,
            need,
          }));
  }

  /** How many records may be acted on if their printed values are true. */
  get regionSize(): number {
    return this.#order.length;
  }

  /** How many of those have the state of another one. */
  get copies(): number {
    return this.regionSize - new Set(this.#order.map((index) => this.#listCopies(index)[0])).size;
  }

  /** Returns whether a record may be acted on. */
  has(index: number): boolean {
    return this.#isFrom(index, this.#tests.at(-1)?.at ?? 101);
  }

  /** The threshold that the latest record was drawn from; null before the first. */
  get from(): number | null {
    return this.#from;
  }

  /** The counts of the labels so far, and the promise. */
  get state() {
    const reached = this.#searches.map((search) => [search.start, this.#findEnd(search)] as const);
    const promisedTest = this.#tests.findLast(
      (test, testIndex) =>
        reached.some(([startIndex, endIndex]) => startIndex <= testIndex && testIndex < endIndex) &&
        this.#toRestCounts(test) !== null,
    );
    const withdrawn = this.#tests.findLast(({ alarmedAt }) => alarmedAt !== null);
    const nearest = this.#nearest();
    const allCounts = this.#countLabels([...this.#labels.keys()]);
    return {
      labelled: allCounts.n,
      wrong: allCounts.wrong,
      /**
       * The lowest promised threshold, and the labels that were counted there; null for none yet. Of exactly these records
       * also how many have no label, and how many of those are wrong at most.
       */
      promised: promisedTest
        ? {
            threshold: promisedTest.at / 100,
            n: promisedTest.n,
            wrong: promisedTest.wrong,
            ...this.#toRestCounts(promisedTest),
          }
        : null,
      /** The lowest threshold whose promise later labels withdrew: `since` is the number of the label that did. */
      withdrawn: withdrawn
        ? {
            threshold: withdrawn.at / 100,
            n: withdrawn.n,
            wrong: withdrawn.wrong,
            since: withdrawn.alarmedAt as number,
          }
        : null,
      /** About how many more labels the next lower threshold takes; null if none is in sight. */
      more: nearest
        ? Math.min(Math.ceil(nearest.more), this.#unlabelledFrom(nearest.test.at))
        : null,
    };
  }

  /** Returns the records with the same state. */
  #listCopies(index: number): readonly number[] {
    return this.#copies.get(index) ?? [index];
  }

  /** Counts the labels of some records: those of copies are one. */
  #countLabels(indexes: readonly number[]): LabelCounts {
    const first =
      this.#copies.size === 0
        ? indexes
        : [...new Set(indexes.map((index) => this.#listCopies(index)[0] as number))];
    return { n: first.length, wrong: first.filter((index) => this.#labels.get(index)).length };
  }

  /** Returns how many records at a threshold and above have each state. */
  #listSizes({ at }: Pick<Test, "at">, copies: PromiseDrawOptions["copies"]) {
    const names = copies?.filter((_, index) => this.#isFrom(index, at));
    return names && [...Map.groupBy(names, (name) => name).values()].map(({ length }) => length);
  }

  /** Returns how many records at a threshold and above have the state of one. */
  #countCopies(index: number, at: number): number {
    return this.#listCopies(index).filter((copyIndex) => this.#isFrom(copyIndex, at)).length;
  }

  /** Returns whether no copy of a record is before it in the order. */
  #isFirst(index: number, at: number): boolean {
    return this.#listCopies(index).find((copyIndex) => this.#isFrom(copyIndex, at)) === index;
  }

  /** Returns how many labels a threshold and above can have yet. */
  #unlabelledFrom(at: number): number {
    if (this.#copies.size === 0) return Infinity;
    const openIndexes = this.#order.filter(
      (index) => this.#isFrom(index, at) && !this.#labels.has(index),
    );
    return this.#countLabels(openIndexes).n;
  }

  /** Returns the index of the next record to label, never one twice; null if all are drawn. */
  next(): number | null {
    // If no threshold is in sight, labels of the whole region may show one. To draw every second record from
    // the whole region, as well, takes a third to two thirds more labels to a first promise, and 600
    // labels promise the same.
    for (const { at, next } of [this.#nearest()?.test ?? [], this.#tests.slice(-1)].flat()) {
      const isFreeRecord = (index: number) =>
        this.#isFrom(index, at) && !this.#takenIndexes.has(index);
      const index = this.#order.slice(next).find(isFreeRecord);
      if (index === undefined) continue;
      for (const copyIndex of this.#listCopies(index)) this.#takenIndexes.add(copyIndex);
      this.#from = at / 100;
      return index;
    }
    return null;
  }

  /**
   * Adds a label, or corrects one. A record that no person can judge counts as wrong.
   *
   * @throws RangeError if the record is not one that may be acted on.
   */
  add(index: number, isWrong: boolean): void {
    if (!this.has(index)) {
      throw new RangeError(`index ${index} is not a record that may be acted on.`);
    }
    const isCorrected = (this.#labels.get(index) ?? isWrong) !== isWrong;
    for (const copyIndex of this.#listCopies(index)) {
      this.#takenIndexes.add(copyIndex);
      this.#labels.set(copyIndex, isWrong);
    }
    for (const test of this.#tests) {
      if (isCorrected) Object.assign(test, noLabels);
      this.#count(test);
    }
  }

  /** Returns the label of a record: whether acting on it is wrong; undefined without one. */
  labelOf(index: number): boolean | undefined {
    return this.#labels.get(index);
  }

  /** Returns the records without a label at a threshold; null if its promise is no longer about them. */
  #toRestCounts({ at, acted: actedCount, source }: Test) {
    if (!(source instanceof FixedRecords)) return {};
    // More labels were made at higher thresholds: they count as well.
    let restCounts = { n: 0, wrong: 0 };
    for (const [index, isWrong] of this.#labels) {
      if (this.#isFrom(index, at)) restCounts = addLabel(restCounts, isWrong);
    }
    if (!source.keeps(restCounts)) return null;
    return {
      unlabelled: actedCount - restCounts.n,
      mostWrong: source.most - restCounts.wrong,
    };
  }

  #isFrom(index: number, at: number): boolean {
    return (this.#sureness[index] ?? -1) >= at;
  }

  /** Counts the labels that follow in the order without a gap. */
  #count(test: Test): void {
    const testIndex = this.#tests.indexOf(test);
    const needs = this.#searches.filter(({ start }) => start <= testIndex).map(({ need }) => need);
    const leastNeed = Math.min(...needs);
    for (; test.next < this.#order.length; test.next += 1) {
      const index = this.#order[test.next] as number;
      if (!this.#isFrom(index, test.at)) continue;
      const isWrong = this.#labels.get(index);
      if (isWrong === undefined) return;
      const isFirst = this.#isFirst(index, test.at);
      test.records = addLabel(test.records, isWrong);
      if (isFirst) Object.assign(test, addLabel(test, isWrong));
      if (test.source instanceof FixedRecords) {
        if (!isFirst) continue;
        test.path ??= test.source.startPath();
      }
      if (test.alarm?.add(isWrong, test.path?.chance).alarm === true) test.alarmedAt ??= test.n;
      const pathEvidence = test.path?.add(this.#countCopies(index, test.at), isWrong);
      // Enough once is enough: the evidence of a broken promise ever rises so far in one of so many draws.
      test.evidence = Math.max(test.evidence, pathEvidence ?? computeEvidence(test));
      if (test.evidence >= leastNeed) test.alarm ??= createRiskAlarm(this.#riskBound);
    }
  }

  /** Returns the index after the last test of a search that passed without a gap. */
  #findEnd({ start, need }: Search): number {
    const endIndex = this.#tests.findIndex(
      ({ evidence, alarmedAt }, testIndex) =>
        testIndex >= start && (evidence < need || alarmedAt !== null),
    );
    return endIndex === -1 ? this.#tests.length : endIndex;
  }

  /** Returns the tested threshold that takes the fewest further labels, if one is in sight. */
  #nearest() {
    const nextTests = this.#searches.flatMap((search) => {
      const test = this.#tests[this.#findEnd(search)];
      return test === undefined ? [] : { test, need: search.need };
    });
    return nextTests
      .filter(({ test }) => test.alarmedAt === null)
      .map(({ test, need }) => ({ test, more: labelsFor(test, need) }))
      .filter(({ more }) => more < Infinity)
      .toSorted((firstNext, secondNext) => firstNext.more - secondNext.more)[0];
  }
}
