/** The labels of some records that may be acted on, counted along a random order. */
export interface LabelCounts {
  readonly n: number;
  readonly wrong: number;
}

/** The evidence of labels for a promised risk. */
export interface PromiseEvidence {
  /** Returns the gain of bets on a lower risk, from a stake of 1: if the promise is false, it ever reaches 20 in at most 1 of 20 draws. */
  readonly evidenceOf: (counts: LabelCounts) => number;
  /** Returns how many more labels reach the needed evidence if a share `risk` of them is wrong; Infinity if they cannot. */
  readonly moreLabels: (counts: LabelCounts, risk: number, need: number) => number;
  /** Returns the largest chance that the next label is wrong if the promise is true. */
  readonly chanceOf: (counts: LabelCounts) => number;
}

/** Each bet is that the risk is a share of the promised one, with a part of the stake. */
const BETS = [
  [0.01, 0.3],
  [0.1, 0.2],
  [0.2, 0.2],
  [0.3, 0.1],
  [0.4, 0.1],
  [0.6, 0.1],
] as const;

/** Returns the evidence that at most `maxRisk` of all records like some are wrong. */
export function evidenceOfRisk(maxRisk: number, records: number): PromiseEvidence {
  const evidenceOf = ({ n, wrong }: LabelCounts) => {
    const payoffs = BETS.map(([share, stake]) => {
      return stake * share ** wrong * ((1 - share * maxRisk) / (1 - maxRisk)) ** (n - wrong);
    });
    return payoffs.reduce((sum, payoff) => sum + payoff, 0);
  };
  return {
    evidenceOf,
    moreLabels(counts, risk, need) {
      if (risk >= maxRisk) return Infinity;
      const growth =
        risk * Math.log(risk / maxRisk || 1) + (1 - risk) * Math.log((1 - risk) / (1 - maxRisk));
      const more = Math.max(1, Math.log(need / evidenceOf(counts)) / growth);
      return more <= records - counts.n ? more : Infinity;
    },
    chanceOf: () => maxRisk,
  };
}
