import { labelsFor } from "./promise-evidence.ts";

/** A search for a threshold with a promise: from the test at which it begins, it goes on to lower ones. */
export interface Search {
  /** The index of that test. */
  readonly start: number;
  /** The evidence that each test takes. */
  readonly need: number;
}

/** The shares of the region at which a search begins; each search has a part of the level. */
const START_SHARES = [0.7, 0.4, 0.2, 0.1];

// Of 2,000 records and more a first promise takes 74 labels instead of 99; of few records the other starts, which take
// more, would run out of them.
/** The part of the level of the start that the printed values choose, in a pool of so many records or more. */
const CHOSEN_START = { part: 0.8, records: 500 };

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
 * @param thresholdTests - The thresholds of the region, from the highest down.
 */
export function listSearches(thresholdTests: readonly Test[], options: SearchOptions): Search[] {
  const regionSize = thresholdTests.at(-1)?.acted ?? 0;
  const startIndexes = START_SHARES.map((startShare) =>
    thresholdTests.findIndex(({ acted }) => acted >= startShare * regionSize),
  );
  const labelCounts = startIndexes.map((startIndex) => {
    const startTest = thresholdTests[startIndex];
    return startTest === undefined ? Infinity : labelsFor(startTest, 1 / (1 - options.confidence));
  });
  const levelParts = computeParts(labelCounts, options.records);
  return startIndexes.map((startIndex, orderIndex) => ({
    start: startIndex,
    need: options.need / (levelParts[orderIndex] as number),
  }));
}

/** Returns the part of the level of each search: the same, or most for the one that takes the fewest labels. */
function computeParts(labelCounts: readonly number[], records: number): number[] {
  const fewestLabels = Math.min(...labelCounts);
  if (records < CHOSEN_START.records || fewestLabels === Infinity)
    return labelCounts.map(() => 1 / labelCounts.length);
  const chosenStart = labelCounts.indexOf(fewestLabels);
  const restPart = (1 - CHOSEN_START.part) / (labelCounts.length - 1);
  return labelCounts.map((_, orderIndex) =>
    orderIndex === chosenStart ? CHOSEN_START.part : restPart,
  );
}
