import * as z from "zod/mini";

/** A JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** Returns a schema for an object whose keys are data. Unlike `z.record` it keeps the key `__proto__`. */
export function toRecord<TValue>(valueSchema: z.ZodMiniType<TValue>) {
  return z
    .custom<Record<string, TValue>>(isRecord, { error: "expected an object" })
    .check((context) => {
      for (const [key, value] of Object.entries(context.value)) {
        const parsedResult = valueSchema.safeParse(value);
        for (const issue of parsedResult.error?.issues ?? []) {
          const path = [key, ...issue.path];
          context.issues.push({ code: "custom", input: value, message: issue.message, path });
        }
      }
    });
}

/** Returns whether a value is an object with string keys: not null, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The deepest JSON that is sent. Chosen: services refuse less, and thousands of levels exhaust the stack. */
const MOST_LEVELS = 500;

/** A part of a value that is not JSON which can be sent, and its path in the value. */
export class Flaw {
  readonly path: string;
  readonly what: string;

  constructor(what: string, path = "") {
    this.what = what;
    this.path = path;
  }
}

/** Returns a copy of a JSON value, which later changes of the value do not reach, or its first flaw. */
export function copyJson(value: unknown, ancestors: object[] = []): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") {
    return Number.isFinite(value) ? value : new Flaw("is a number that JSON cannot hold");
  }
  const isList = Array.isArray(value);
  if (!isList && !isPlainObject(value)) return new Flaw("is not a JSON value");
  if (ancestors.includes(value)) return new Flaw("contains itself");
  if (ancestors.length === MOST_LEVELS) {
    return new Flaw(`is nested deeper than ${MOST_LEVELS} levels`);
  }
  ancestors.push(value);
  // A copy that is checked, and not a check and then a copy: a getter may return another value each time.
  const copy = (isList ? [...value] : { ...value }) as Record<string, unknown>;
  for (const key of Object.keys(copy)) {
    const item = copy[key];
    // JSON drops an undefined field but turns an undefined item into null.
    if (typeof item === "string" || (item === undefined && !isList)) continue;
    const copiedValue = copyJson(item, ancestors);
    if (copiedValue instanceof Flaw)
      return new Flaw(copiedValue.what, `.${key}${copiedValue.path}`);
    if (copiedValue !== item) copy[key] = copiedValue;
  }
  ancestors.pop();
  return copy;
}

/** Returns whether a value is a plain object; each realm (`vm`, edge routes, jest) has its own `Object`. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Returns the value at a path in parsed JSON, or undefined. */
export function valueAt(json: unknown, ...path: readonly string[]): unknown {
  let value = json;
  for (const key of path) value = isRecord(value) ? value[key] : undefined;
  return value;
}

/** Returns the text at a path in parsed JSON, or null. */
export function textAt(json: unknown, ...path: readonly string[]): string | null {
  const value = valueAt(json, ...path);
  return typeof value === "string" ? value : null;
}

/** Returns the list at a path in parsed JSON, or an empty one. */
export function listAt(json: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = valueAt(json, ...path);
  return Array.isArray(value) ? value : [];
}

/** Returns the schema of a probability. */
export function probability() {
  return z.number().check(z.minimum(0), z.maximum(1));
}

/** Allowance for floating point. Chosen: far above what sums lose, far below a printed decimal. */
export const TOLERANCE = 1e-6;

const wrongKeys = {
  rule: "probabilities-keys",
  what: "does not have one probability for every option or level",
} as const;
const wrongSum = {
  rule: "probabilities-sum",
  what: "has probabilities that do not sum to 1 within rounding",
} as const;
const outOfRange = {
  rule: "probabilities-range",
  what: "has a probability that is not a number from 0 to 1",
} as const;

/** The parts of a rounding that decide about sums. */
interface PrintedSums {
  readonly probabilityDecimals: number;
  readonly sumError?: number | undefined;
}

/**
 * Returns the highest of printed probabilities that some distribution prints so; else the broken rule.
 * A sum of the printed values decides nothing: 255 zeros can be right, 0.60, 0.44 and eight zeros cannot.
 */
export function checkDistribution(
  keys: readonly string[],
  probabilities: unknown,
  { probabilityDecimals, sumError = 0 }: PrintedSums,
) {
  if (!isRecord(probabilities) || Object.keys(probabilities).length !== keys.length) {
    return wrongKeys;
  }
  const error = roundingError(probabilityDecimals);
  let sum = 0;
  let highest = 0;
  // By how much values below the error would go below 0. A value above 1 - error needs no such part: it is enough alone.
  let below = 0;
  for (const key of keys) {
    const probability = probabilities[key];
    if (typeof probability !== "number" || !(probability >= 0 && probability <= 1)) {
      // An inherited value is no number either.
      return Object.hasOwn(probabilities, key) ? outOfRange : wrongKeys;
    }
    sum += probability;
    if (probability < error) below += error - probability;
    if (probability > highest) highest = probability;
  }
  const bound = sumError + TOLERANCE;
  const least = sum + below - keys.length * error;
  const most = sum + keys.length * error;
  return least > 1 + bound || most < 1 - bound ? wrongSum : highest;
}

/** Returns the value of an answer that {@link checkDistribution} checks. */
export function distributionOver<
  TAnswer extends { readonly probabilities: Readonly<Record<string, number>> },
>(keys: readonly string[], isOrdered: boolean) {
  const of = (answer: TAnswer) => answer.probabilities;
  return { name: "probabilities", form: "distribution", keys, isOrdered, of } as const;
}

/** Maps every own value of a record; a key such as `__proto__` stays data. */
export function mapRecord<TValue, TResult>(
  record: Readonly<Record<string, TValue>>,
  map: (value: TValue, key: string) => TResult,
): Record<string, TResult> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}

/** Checks a single probability. */
export function checkProbability(value: unknown): typeof outOfRange | null {
  return typeof value === "number" && value >= 0 && value <= 1 ? null : outOfRange;
}

/** Returns half a unit in the last printed place. */
export function roundingError(decimals: number): number {
  return 0.5 * 10 ** -decimals;
}

const inOrder = new WeakSet<object>();

/** Returns a frozen record that lists its keys in the order of a list without repeats. */
export function recordInOrder<TKey extends string, TValue>(
  entries: readonly (readonly [TKey, TValue])[],
): Readonly<Record<TKey, TValue>> {
  const keys = entries.map(([key]) => key);
  const record = Object.freeze(Object.fromEntries(entries)) as Readonly<Record<TKey, TValue>>;
  // An object lists keys such as "10" first, in ascending order, whatever the order of writing.
  const orderedFields = keys.some(isIndex) ? new Proxy(record, { ownKeys: () => keys }) : record;
  inOrder.add(orderedFields);
  return orderedFields;
}

/** Returns a key of a record that may be listed at another place than it was written at, or undefined. */
export function findSortedKey(record: object): string | undefined {
  const keys = inOrder.has(record) || Array.isArray(record) ? [] : Object.keys(record);
  return keys.length > 1 ? keys.find(isIndex) : undefined;
}

function isIndex(key: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(key);
}

/** Returns a frozen copy of plain data, or the data itself if it is frozen; anything else in it stays for a check. */
export function frozenCopy<TData>(data: TData, levels = MOST_LEVELS): TData {
  if (isFrozen(data, levels) || levels === 0) return data;
  const copy = (item: unknown) => frozenCopy(item, levels - 1);
  if (Array.isArray(data)) return Object.freeze(data.map(copy)) as TData;
  if (!isPlainObject(data)) return data;
  const entries = Object.entries(data).map(([key, item]) => [key, copy(item)] as const);
  const isOrdered = inOrder.has(data);
  return (isOrdered ? recordInOrder(entries) : Object.freeze(Object.fromEntries(entries))) as TData;
}

function isFrozen(data: unknown, levels: number): boolean {
  if (typeof data !== "object" || data === null) return true;
  if (levels === 0 || !Object.isFrozen(data)) return false;
  return Object.values(data).every((item) => isFrozen(item, levels - 1));
}

const MAX_LENGTH = 60;

/** Returns an id or option name for a message: quoted, shortened, and without format characters. */
export function quoteName(name: string): string {
  const whole = JSON.stringify(name.length > MAX_LENGTH ? `${name.slice(0, MAX_LENGTH)}…` : name);
  return whole.replace(/\p{Cf}/gu, "");
}
