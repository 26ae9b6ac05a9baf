import type { LockedThreshold } from "../artifact.ts";
import type { AnswerColumn } from "../input/answer-table.ts";
import type { AnswerSource } from "../input/read-answers.ts";
import {
  kolmogorovSmirnovTest,
  mcnemarExact,
  pairedDifference,
  type PairedDifference,
  stabilityTest,
  type StabilityTest,
} from "../scores/comparison-tests.ts";
import { wilson } from "../thresholds/intervals.ts";
import { checkThreshold, type ThresholdCheck } from "./actions.ts";
import { type LabelledRows, topAnswers } from "./labelled-rows.ts";
import { brierOf, type Estimate } from "./score-report.ts";

/** How the answers of two releases to one question differ. */
export interface ReleaseComparison {
  readonly question: string;
  readonly before: { readonly source: AnswerSource; readonly n: number };
  readonly after: { readonly source: AnswerSource; readonly n: number };
  /** Population stability over the first release's deciles, and its cut by chance. */
  readonly stability: StabilityTest;
  readonly kolmogorovSmirnov: { readonly distance: number; readonly pValue: number };
  /** Records of both releases with another most probable answer; null if no record has both. */
  readonly flips: (Estimate & { readonly n: number; readonly of: number }) | null;
  /** Whether the printed values changed, for better or worse. */
  readonly isChanged: boolean;
  /** On the labelled records of both; null without labels. */
  readonly labelled: LabelledComparison | null;
}

/** How two releases do on the same labelled records. */
export interface LabelledComparison {
  readonly n: number;
  readonly onlyBeforeRight: number;
  readonly onlyAfterRight: number;
  /** That both are right equally often (McNemar, exact). */
  readonly pValue: number;
  /** The second release's Brier score minus the first's: above 0 is worse. */
  readonly brierDifference: PairedDifference;
  /** The locked thresholds, tried again on the second release. */
  readonly thresholds: readonly ThresholdCheck[];
}

/** Returns what changed between two columns of answers to one question. */
export function compareReleases(
  before: AnswerColumn,
  after: AnswerColumn,
  { seed, labelled }: { readonly seed: number; readonly labelled: LabelledComparison | null },
): ReleaseComparison {
  const [first, second] = [topAnswers(before), topAnswers(after)];
  const stability = stabilityTest(first.probability, second.probability);
  const kolmogorovSmirnov = kolmogorovSmirnovTest(first.probability, second.probability, seed);
  let [of, n] = [0, 0];
  for (const [row, id] of before.ids.entries()) {
    const other = after.rowOf(id);
    if (other === undefined) continue;
    of += 1;
    if (first.option[row] !== second.option[other]) n += 1;
  }
  return {
    question: before.question,
    before: { source: before.source, n: before.ids.length },
    after: { source: after.source, n: after.ids.length },
    stability,
    kolmogorovSmirnov,
    flips: of === 0 ? null : { n, of, value: n / of, ...wilson(n, of) },
    isChanged: stability.index > stability.cut || kolmogorovSmirnov.pValue < 0.05,
    labelled,
  };
}

/** Returns how two releases do on the records that are labelled in both; null without such records. */
export function compareLabelled(
  before: LabelledRows,
  after: LabelledRows,
  { thresholds, seed }: { readonly thresholds: readonly LockedThreshold[]; readonly seed: number },
): LabelledComparison | null {
  const rowOf = new Map(before.ids.map((id, row) => [id, row]));
  const differences: number[] = [];
  let [onlyBeforeRight, onlyAfterRight] = [0, 0];
  for (const [row, id] of after.ids.entries()) {
    const earlier = rowOf.get(id);
    if (earlier === undefined) continue;
    differences.push(brierOf(after, row) - brierOf(before, earlier));
    const wasRight = before.top[earlier] === before.truth[earlier];
    const isRight = after.top[row] === after.truth[row];
    if (wasRight && !isRight) onlyBeforeRight += 1;
    if (isRight && !wasRight) onlyAfterRight += 1;
  }
  if (differences.length === 0) return null;
  return {
    n: differences.length,
    onlyBeforeRight,
    onlyAfterRight,
    pValue: mcnemarExact(onlyBeforeRight, onlyAfterRight),
    brierDifference: pairedDifference(differences, seed),
    thresholds: thresholds
      .filter(({ question }) => question === after.question)
      .map((locked) => checkThreshold(locked, after.tested)),
  };
}
