import type { LockedThreshold } from "../artifact/artifact.ts";
import type { AnswerColumn, AnswerSource } from "../input/answer-table.ts";
import { topOptions } from "../scores/choice-scores.ts";
import { wilson } from "../thresholds/intervals.ts";
import type { LabelledRows } from "./labelled-rows.ts";
import type { Estimate } from "./score-report.ts";
import { brierOf } from "./score-report.ts";
import { checkThreshold, type ThresholdCheck } from "./threshold-check.ts";
import { mcnemarExact, pairedDifference, type PairedDifference } from "../scores/paired-rows.ts";
import {
  kolmogorovSmirnovTest,
  stabilityTest,
  type StabilityTest,
} from "../scores/shifted-values.ts";

/** How the answers of two releases to one question differ. */
export interface ReleaseComparison {
  readonly question: string;
  readonly before: { readonly source: AnswerSource; readonly n: number };
  readonly after: { readonly source: AnswerSource; readonly n: number };
  /** Population stability over the first release's deciles, and its cut by chance. */
  readonly stability: StabilityTest;
  readonly kolmogorovSmirnov: { readonly distance: number; readonly pValue: number };
  /** Records of both releases whose most probable answer is another now; null where they share none. */
  readonly flips: (Estimate & { readonly n: number; readonly of: number }) | null;
  /** Whether the printed values changed; nothing here says for the worse. */
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
  const [first, second] = [topsOf(before), topsOf(after)];
  const stability = stabilityTest(first.probability, second.probability);
  const kolmogorovSmirnov = kolmogorovSmirnovTest(first.probability, second.probability, { seed });
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

function topsOf({ kind, width, values }: AnswerColumn) {
  const tops = topOptions({ width, values });
  if (kind !== "boolean") return tops;
  return {
    probability: tops.probability,
    option: Uint32Array.from(tops.probability, (p) => (p >= 0.5 ? 1 : 0)),
  };
}

/** Returns how two releases do on the records that are labelled in both; null where there are none. */
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
    brierDifference: pairedDifference(differences, { seed }),
    thresholds: thresholds
      .filter(({ question }) => question === after.question)
      .map((locked) => checkThreshold(locked, after.tested)),
  };
}
