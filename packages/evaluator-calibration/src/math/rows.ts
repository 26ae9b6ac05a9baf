/** Numbers by index: a plain array or a typed one. */
export type Numbers = ArrayLike<number>;

/** How much each row counts; without weights every row counts as one. */
export interface Weighted {
  readonly weights?: Numbers | undefined;
}

/** Numbers, and their name in messages. */
type Named = readonly [name: string, values: Numbers];

/** Throws a `RangeError` about an argument. */
export function rejectValue(name: string, value: unknown, wantedForm: string): never {
  throw new RangeError(`${name} is ${String(value)}; it must be ${wantedForm}.`);
}

/** @throws RangeError that names the first index whose value is not a whole number below `end`. */
function checkBelow(end: number, [name, values]: Named): void {
  const wantedName = end === 2 ? "0 or 1" : `a whole number from 0 to ${end - 1}`;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    if (!(value >>> 0 === value && value < end)) rejectValue(`${name}[${i}]`, value, wantedName);
  }
}

/** @throws RangeError if the lists are empty, or that names the index at which the shorter one ends. */
function checkLengths([name, values]: Named, [otherName, others]: Named): void {
  if (values.length === 0) throw new RangeError(`${name} is empty; it needs at least one row.`);
  if (values.length === others.length) return;
  const end = Math.min(values.length, others.length);
  throw new RangeError(
    `${name} has ${values.length} rows and ${otherName} ${others.length}: index ${end} is in one of them only.`,
  );
}

/**
 * Checks rows of a probability and a truth: 0 or 1, or a whole number below `end`.
 *
 * @throws RangeError that names the first index at which they are invalid.
 */
export function checkRows(
  p: Numbers,
  truth: Numbers,
  {
    weights,
    names: [name, truthName] = ["p", "truth"],
    end = 2,
  }: Weighted & { readonly names?: readonly [string, string]; readonly end?: number } = {},
): void {
  checkLengths([name, p], [truthName, truth]);
  // Each check has its own loop: one that calls a function takes longer over a million rows.
  for (let i = 0; i < p.length; i += 1) {
    const value = p[i] as number;
    if (!(value >= 0 && value <= 1)) rejectValue(`${name}[${i}]`, value, "a number from 0 to 1");
  }
  checkBelow(end, [truthName, truth]);
  if (weights === undefined) return;
  checkLengths(["weights", weights], ["p", p]);
  for (let i = 0; i < weights.length; i += 1) {
    const weight = weights[i] as number;
    if (!(weight > 0 && weight < Infinity))
      rejectValue(`weights[${i}]`, weight, "a positive number");
  }
}

/** Checks two equally long lists of whole numbers. @throws RangeError that names the first invalid index. */
export function checkIndexes(one: Named, other: Named): void {
  checkLengths(one, other);
  for (const list of [one, other]) checkBelow(Infinity, list);
}

/** Returns the sum of numbers. */
export function computeSum(values: Numbers): number {
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) sum += values[i] as number;
  return sum;
}

/** Returns the mean of a value over rows, each counted by its weight. */
export function weightedMean(
  length: number,
  weights: Numbers | undefined,
  valueAt: (index: number) => number,
): number {
  // Kahan's sum: a million rows in another order must give the same digits.
  let [sum, lostCount, total] = [0, 0, 0];
  for (let i = 0; i < length; i += 1) {
    const weight = weights === undefined ? 1 : (weights[i] as number);
    const addedCount = weight * valueAt(i) - lostCount;
    const next = sum + addedCount;
    lostCount = next - sum - addedCount;
    sum = next;
    total += weight;
  }
  return sum / total;
}

/** Returns the number of equal rows that have the worth of weighted ones (Kish). */
export function effectiveRows(length: number, weights: Numbers | undefined): number {
  if (weights === undefined) return length;
  let [sum, squares] = [0, 0];
  for (let i = 0; i < length; i += 1) {
    sum += weights[i] as number;
    squares += (weights[i] as number) ** 2;
  }
  return sum ** 2 / squares;
}

/** Returns the value that a share of numbers does not exceed, with linear steps between. */
export function computeQuantile(values: Float64Array, share: number): number {
  const sortedValues = values.toSorted();
  const position = share * (sortedValues.length - 1);
  const below = Math.floor(position);
  const [low, high] = [
    sortedValues[below],
    sortedValues[Math.min(below + 1, sortedValues.length - 1)],
  ];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (position - below) * (high - low);
}
