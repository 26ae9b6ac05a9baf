import type { createRiskAlarm } from "./risk-alarm.ts";

/** The labels of some records that may be acted on, counted along a random order. */
export interface LabelCounts {
  readonly n: number;
  readonly wrong: number;
}

/** The evidence of labels for a promised risk. */
export interface PromiseEvidence {
  /** Whether the promise is about exactly these records, of which a label shows each copy. */
  readonly knowsCopies: boolean;
  /** Returns the gain of bets on a lower risk, from a stake of 1: if the promise is false, it ever reaches 20 in at most 1 of 20 draws. */
  readonly evidenceOf: (labelCounts: LabelCounts) => number;
  /** Returns how many more labels reach the needed evidence if a share `risk` of them is wrong; Infinity if they cannot. */
  readonly moreLabels: (
    labelCounts: LabelCounts,
    expectedRisk: number,
    neededEvidence: number,
  ) => number;
}

/** The evidence of labels one by one, each of which is about all records of its state. */
export interface EvidencePath {
  /** The largest chance that the next label is wrong if the promise is true. */
  readonly chance: number;
  /** Adds the label of a state of so many records, and returns the evidence. */
  add(records: number, isWrong: boolean): number;
}

/** Each bet is that the risk is a share of the promised one, with a part of the stake. */
const RISK_BETS = [
  [0.01, 0.3],
  [0.1, 0.2],
  [0.2, 0.2],
  [0.3, 0.1],
  [0.4, 0.1],
  [0.6, 0.1],
] as const;

/** Returns the evidence that at most `maxRisk` of all records like some are wrong. */
export function evidenceOfRisk(maxRisk: number, records: number): PromiseEvidence {
  const toEvidence = ({ n, wrong }: LabelCounts) => {
    let evidence = 0;
    // A label of 30,000 records is counted at up to fifty thresholds: no array for each of them.
    for (const [riskShare, betStake] of RISK_BETS) {
      const rightGain = (1 - riskShare * maxRisk) / (1 - maxRisk);
      evidence += betStake * riskShare ** wrong * rightGain ** (n - wrong);
    }
    return evidence;
  };
  return {
    knowsCopies: false,
    evidenceOf: toEvidence,
    moreLabels(labelCounts, expectedRisk, neededEvidence) {
      if (expectedRisk >= maxRisk) return Infinity;
      const evidenceGrowth =
        expectedRisk * Math.log(expectedRisk / maxRisk || 1) +
        (1 - expectedRisk) * Math.log((1 - expectedRisk) / (1 - maxRisk));
      const moreCount = Math.max(
        1,
        Math.log(neededEvidence / toEvidence(labelCounts)) / evidenceGrowth,
      );
      return moreCount <= records - labelCounts.n ? moreCount : Infinity;
    },
  };
}

/** The labels that count for a promise: those of copies are one. */
interface CountedLabels extends LabelCounts {
  readonly source: PromiseEvidence;
  /** The share of wrong records if the printed values are true. */
  readonly printedRisk: number;
  /** The records that the labels are of. */
  readonly records: LabelCounts;
}

/** Returns counts with one more. */
export function addLabel({ n, wrong }: LabelCounts, isWrong: boolean): LabelCounts {
  return { n: n + 1, wrong: wrong + Number(isWrong) };
}

/** Returns the evidence of labels. Later records have other states, so a promise about records like these takes as many different ones. */
export function computeEvidence({ source, records, n, wrong }: CountedLabels): number {
  const evidence = source.evidenceOf({ n, wrong });
  const hasSameCounts = n === records.n && wrong === records.wrong;
  return source.knowsCopies || hasSameCounts
    ? evidence
    : Math.min(evidence, source.evidenceOf(records));
}

/** Returns how many more labels it takes if the risk is that of the labels and the printed one together. */
export function labelsFor(countedLabels: CountedLabels, neededEvidence: number): number {
  const { source, printedRisk, records, n, wrong } = countedLabels;
  const toExpectedRisk = (labelCounts: LabelCounts) =>
    (labelCounts.wrong + 4 * printedRisk) / (labelCounts.n + 4);
  const stateCounts = { n, wrong };
  if (source.knowsCopies)
    return source.moreLabels(stateCounts, toExpectedRisk(stateCounts), neededEvidence);
  const expectedRisk = Math.max(toExpectedRisk(records), toExpectedRisk(countedLabels));
  // The copies of a wrong record may have the lesser evidence.
  const evidenceFactor = source.evidenceOf(stateCounts) / computeEvidence(countedLabels);
  return source.moreLabels(stateCounts, expectedRisk, evidenceFactor * neededEvidence);
}

/** A threshold without labels. */
export const noLabels = {
  /** The first place in the order whose record is not counted. */
  next: 0,
  /** The labels: those of copies are one. */
  n: 0,
  wrong: 0,
  /** The records that these labels are of. */
  records: { n: 0, wrong: 0 } as LabelCounts,
  /** The evidence of a promise about exactly these records; null before the first label. */
  path: null as EvidencePath | null,
  /** The highest evidence so far. */
  evidence: 0,
  /** The test of the labels after that; null before. */
  alarm: null as ReturnType<typeof createRiskAlarm> | null,
  /** The number of the label that raised the alarm; null for none. */
  alarmedAt: null as number | null,
};
