import type { AnswerColumn } from "./input/answer-column.ts";
import { DEFAULT_SEED, seededRandom, shuffle } from "./math/random.ts";
import type { Form } from "./kinds.ts";
import { topAnswers } from "./report/labelled-rows.ts";
import { toHundredths } from "./thresholds/risk-coverage.ts";

/** A record to label, without the model's answer. */
export interface PickedRecord {
  readonly id: string;
  readonly question: string;
  /** The probability of being drawn: the label's weight is its inverse. */
  readonly drawn: number;
}

interface DrawOptions {
  readonly budget: number;
  readonly seed?: number | undefined;
  /** The cluster of each id, such as its thread: of one cluster at most one record is drawn. */
  readonly clusters?: ReadonlyMap<string, string> | undefined;
}

const MOST_STRATA = 10; // chosen, not measured: as many as a calibration error has bins
// With ten strata, 20 labels are as precise as 3 to 18 random ones, with two as 17 to 42; 40 as 41 to 80, with four as 60 to 99.
const LABELS_OF_STRATUM = 10;
const LEAST_OF_STRATUM = 2; // the fewest with a variance

/**
 * Returns records to label next, drawn by strata of their printed value: most from the strata with the
 * least sure answers, and some from each, so that weights of 1 / `drawn` are fair.
 *
 * @example pickRecords(table.columns[0], { budget: 200 }) // [{ id: "t-17", question: "scam", drawn: 0.04 }, …]
 */
export function pickRecords(
  column: AnswerColumn,
  { budget, seed = DEFAULT_SEED, clusters = new Map() }: DrawOptions,
): PickedRecord[] {
  // `drawRecords` takes the numbers of the seed itself.
  const nextRandom = seededRandom(seed + 1);
  const { question } = column;
  const members = mapMembers(column.ids, clusters);
  const takenNames = drawRecords(column, { budget: Infinity, seed, clusters });
  const recordStrata = toStrata(column, takenNames, budget);
  const drawnOf = allocate(recordStrata, budget);
  const pickedItems = recordStrata.flatMap(({ ids }, stratumIndex) => {
    const drawnCount = drawnOf[stratumIndex] as number;
    // Once more: in the first order, large clusters are early.
    return shuffle(ids, nextRandom)
      .slice(0, drawnCount)
      .map((recordId) => {
        const clusterMembers = members.get(toCluster(recordId, clusters)) ?? [recordId];
        return { id: recordId, question, drawn: drawnCount / ids.length / clusterMembers.length };
      });
  });
  return shuffle(pickedItems, nextRandom);
}

/**
 * Returns ids to label next, each as likely as the others, and at most one of each cluster. A larger budget
 * draws the same records first.
 */
export function drawRecords(
  { ids }: Pick<AnswerColumn, "ids">,
  { budget, seed = DEFAULT_SEED, clusters = new Map() }: DrawOptions,
): string[] {
  const shuffledNames = shuffle(ids.toSorted(), seededRandom(seed));
  return Array.from(
    mapMembers(shuffledNames, clusters).values(),
    ([firstMember = ""]) => firstMember,
  ).slice(0, budget);
}

type Clusters = NonNullable<DrawOptions["clusters"]>;

function mapMembers(recordIds: readonly string[], clusters: Clusters): Map<string, string[]> {
  return Map.groupBy(recordIds, (recordId) => toCluster(recordId, clusters));
}

/** Returns a name for the cluster of a record; without one it is its own. */
function toCluster(recordId: string, clusters: Clusters): string {
  return JSON.stringify(clusters.get(recordId) ?? [recordId]);
}

// The top option of several is seldom below one over their number.
const lowestHundredths: Record<Form, (options: number) => number> = {
  probability: () => 0,
  distribution: (options) => Math.floor(100 / options),
};

function toStrata(column: AnswerColumn, takenNames: readonly string[], budget: number) {
  const { form, ids, options } = column;
  const probabilities = topAnswers(column).probability;
  const lowestPrinted = lowestHundredths[form](options.length);
  const mostStrata = Math.max(1, Math.floor(budget / LABELS_OF_STRATUM));
  const stratumWidth = (101 - lowestPrinted) / Math.min(MOST_STRATA, mostStrata);
  const rowsByStratum = Map.groupBy(
    takenNames.map((recordId) => column.rowOf(recordId) as number),
    (rowIndex) =>
      Math.max(
        0,
        Math.floor(
          (toHundredths(probabilities[rowIndex] as number) - lowestPrinted) / stratumWidth,
        ),
      ),
  );
  return [...rowsByStratum]
    .toSorted(([firstStratum], [secondStratum]) => firstStratum - secondStratum)
    .map(([, stratumRows]) => {
      const meanProbability =
        stratumRows.reduce(
          (runningSum, rowIndex) => runningSum + (probabilities[rowIndex] as number),
          0,
        ) / stratumRows.length;
      // √(p (1 − p)) of the mean; a printed 0 or 1 has an error of up to half a printed unit.
      const spreadWidth = Math.sqrt(
        Math.max(meanProbability * (1 - meanProbability), 0.005 * 0.995),
      );
      return { ids: stratumRows.map((rowIndex) => ids[rowIndex] as string), spread: spreadWidth };
    });
}

/** Neyman's allocation: in proportion to size times spread, at least 2 and at most all of each. */
function allocate(recordStrata: ReturnType<typeof toStrata>, budget: number): number[] {
  const drawnCounts = recordStrata.map(({ ids }) => Math.min(LEAST_OF_STRATUM, ids.length));
  let remainingCount =
    budget - drawnCounts.reduce((runningSum, drawnCount) => runningSum + drawnCount, 0);
  while (remainingCount > 0) {
    // The next record is from the stratum that is farthest below its share.
    const gains = recordStrata.map(({ ids, spread: spreadWidth }, stratumIndex) => {
      const drawnCount = drawnCounts[stratumIndex] as number;
      return drawnCount < ids.length ? (ids.length * spreadWidth) / (drawnCount + 0.5) : 0;
    });
    const mostGain = Math.max(...gains);
    if (mostGain === 0) break;
    const nextStratum = gains.indexOf(mostGain);
    drawnCounts[nextStratum] = (drawnCounts[nextStratum] as number) + 1;
    remainingCount -= 1;
  }
  return drawnCounts;
}
