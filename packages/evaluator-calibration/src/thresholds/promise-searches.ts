import { labelsFor } from "./promise-evidence.ts";

/** A search for a threshold with a promise: from the test at which it begins, it goes on to lower ones. */
export interface Search {
  /** The index of that test. */
  readonly start: number;
  /** The evidence that each test takes. */
  readonly need: number;
}

/** The shares of the region at which a search begins; each search has a part of the level. */
const STARTS = [0.7, 0.4, 0.2, 0.1];

// Of 2,000 records and more a first promise takes 74 labels instead of 99; of few records the other starts, which take
// more, would run out of them.
/** The part of the level of the start that the printed values choose, in a pool of so many records or more. */
const CHOSEN = { part: 0.8, records: 500 };

type Test = Parameters<typeof labelsFor>[0] & { readonly acted: number };

interface SearchOptions {
  /** The evidence that one search with the whole level takes. */
  readonly need: number;
  readonly confidence: number;
  /** How many records the pool has. */
  readonly records: number;
}

/**
 * Returns the searches of a promise about records like those of a pool, each with a part of the level.
 *
 * @param tests - The thresholds of the region, from the highest down.
 */
export function listSearches(tests: readonly Test[], options: SearchOptions): Search[] {
  const regionSize = tests.at(-1)?.acted ?? 0;
  const starts = STARTS.map((share) => tests.findIndex(({ acted }) => acted >= share * regionSize));
  const labels = starts.map((start) => {
    const test = tests[start];
    return test === undefined ? Infinity : labelsFor(test, 1 / (1 - options.confidence));
  });
  const parts = computeParts(labels, options.records);
  return starts.map((start, at) => ({ start, need: options.need / (parts[at] as number) }));
}

/** Returns the part of the level of each search: the same, or most for the one that takes the fewest labels. */
function computeParts(labels: readonly number[], records: number): number[] {
  const fewest = Math.min(...labels);
  if (records < CHOSEN.records || fewest === Infinity) return labels.map(() => 1 / labels.length);
  const chosenStart = labels.indexOf(fewest);
  const rest = (1 - CHOSEN.part) / (labels.length - 1);
  return labels.map((_, at) => (at === chosenStart ? CHOSEN.part : rest));
}
