/** Numbers by index: a plain array or a typed one. */
export type Numbers = ArrayLike<number>;

/** How much each row counts; without weights every row counts as one. */
export interface Weighted {
  readonly weights?: Numbers | undefined;
}

/** Numbers, and their name in messages. */
type Named = readonly [name: string, values: Numbers];

/** Throws a `RangeError` about an argument. */
export function rejectValue(valueName: string, value: unknown, wantedForm: string): never {
  throw new RangeError(`${valueName} is ${String(value)}; it must be ${wantedForm}.`);
}

/** @throws RangeError that names the first index whose value is not a whole number below `end`. */
function checkBelow(upperEnd: number, [listName, values]: Named): void {
  const wantedName = upperEnd === 2 ? "0 or 1" : `a whole number from 0 to ${upperEnd - 1}`;
  for (let position = 0; position < values.length; position += 1) {
    const listedNumber = values[position] as number;
    if (!(listedNumber >>> 0 === listedNumber && listedNumber < upperEnd))
      rejectValue(`${listName}[${position}]`, listedNumber, wantedName);
  }
}

/** @throws RangeError if the lists are empty, or that names the index at which the shorter one ends. */
function checkLengths([listName, values]: Named, [otherName, otherValues]: Named): void {
  if (values.length === 0) throw new RangeError(`${listName} is empty; it needs at least one row.`);
  if (values.length === otherValues.length) return;
  const shorterLength = Math.min(values.length, otherValues.length);
  throw new RangeError(
    `${listName} has ${values.length} rows and ${otherName} ${otherValues.length}: index ${shorterLength} is in one of them only.`,
  );
}

/**
 * Checks rows of a probability and a truth: 0 or 1, or a whole number below `end`.
 *
 * @throws RangeError that names the first index at which they are invalid.
 */
export function checkRows(
  probabilities: Numbers,
  truth: Numbers,
  {
    weights,
    names: [listName, truthName] = ["p", "truth"],
    end = 2,
  }: Weighted & { readonly names?: readonly [string, string]; readonly end?: number } = {},
): void {
  checkLengths([listName, probabilities], [truthName, truth]);
  // Each check has its own loop: one that calls a function takes longer over a million rows.
  for (let position = 0; position < probabilities.length; position += 1) {
    const probability = probabilities[position] as number;
    if (!(probability >= 0 && probability <= 1))
      rejectValue(`${listName}[${position}]`, probability, "a number from 0 to 1");
  }
  checkBelow(end, [truthName, truth]);
  if (weights === undefined) return;
  checkLengths(["weights", weights], ["p", probabilities]);
  for (let position = 0; position < weights.length; position += 1) {
    const rowWeight = weights[position] as number;
    if (!(rowWeight > 0 && rowWeight < Infinity))
      rejectValue(`weights[${position}]`, rowWeight, "a positive number");
  }
}

/** Checks two equally long lists of whole numbers. @throws RangeError that names the first invalid index. */
export function checkIndexes(firstList: Named, secondList: Named): void {
  checkLengths(firstList, secondList);
  for (const indexList of [firstList, secondList]) checkBelow(Infinity, indexList);
}

/** Returns the sum of numbers. */
export function computeSum(values: Numbers): number {
  let valueSum = 0;
  for (let position = 0; position < values.length; position += 1)
    valueSum += values[position] as number;
  return valueSum;
}

/** Returns the mean of a value over rows, each counted by its weight. */
export function weightedMean(
  rowCount: number,
  weights: Numbers | undefined,
  valueAt: (index: number) => number,
): number {
  // Kahan's sum: a million rows in another order must give the same digits.
  let [weightedSum, lostPart, totalWeight] = [0, 0, 0];
  for (let rowIndex = 0; rowIndex < rowCount; rowIndex += 1) {
    const rowWeight = weights === undefined ? 1 : (weights[rowIndex] as number);
    const addedPart = rowWeight * valueAt(rowIndex) - lostPart;
    const nextSum = weightedSum + addedPart;
    lostPart = nextSum - weightedSum - addedPart;
    weightedSum = nextSum;
    totalWeight += rowWeight;
  }
  return weightedSum / totalWeight;
}

/** Returns the number of equal rows that have the worth of weighted ones (Kish). */
export function effectiveRows(rowCount: number, weights: Numbers | undefined): number {
  if (weights === undefined) return rowCount;
  let [weightSum, squares] = [0, 0];
  for (let rowIndex = 0; rowIndex < rowCount; rowIndex += 1) {
    weightSum += weights[rowIndex] as number;
    squares += (weights[rowIndex] as number) ** 2;
  }
  return weightSum ** 2 / squares;
}

/** Returns the value that a share of numbers does not exceed, with linear steps between. */
export function computeQuantile(values: Float64Array, quantileShare: number): number {
  const sortedValues = values.toSorted();
  const position = quantileShare * (sortedValues.length - 1);
  const lowerIndex = Math.floor(position);
  const [lowerValue, upperValue] = [
    sortedValues[lowerIndex],
    sortedValues[Math.min(lowerIndex + 1, sortedValues.length - 1)],
  ];
  if (lowerValue === undefined || upperValue === undefined) return Number.NaN;
  return lowerValue + (position - lowerIndex) * (upperValue - lowerValue);
}
