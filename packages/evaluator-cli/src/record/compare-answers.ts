import { type Exchange, pathText } from "evaluator-client/testing";
import { contractBreaches } from "./contract-breaches.ts";
import type { LiveCall } from "./live-calls.ts";

/** Opens a comparison of live answers with their exchanges; each difference is printed once. */
export function openComparison() {
  const namesByLine = new Map<string, string[]>();
  return {
    async add(call: LiveCall, answer: Exchange["response"]): Promise<void> {
      for (const line of new Set(await findDifferences(call, answer))) {
        namesByLine.set(line, [...(namesByLine.get(line) ?? []), call.exchange.name]);
      }
    },
    /** Returns every difference with its exchanges; empty if there is none. */
    text: () =>
      Array.from(namesByLine, ([line, [first, ...others]]) => {
        const more = others.length === 0 ? "" : ` and ${others.length} more`;
        return `${line}\n         in ${first}${more}\n`;
      }).join(""),
  };
}

/**
 * Returns the differences of an answer to its exchange and the contract, such as
 * `new      response.body.usage.cachedTokens (number)`; they hold no value.
 */
async function findDifferences(
  { exchange, samples }: Pick<LiveCall, "exchange" | "samples">,
  live: Exchange["response"],
): Promise<string[]> {
  const known = samples.map(({ response }) => comparable(exchange, response));
  const shape = compareShapes(known, comparable(exchange, live), ["response"]).map(
    ({ kind, path, detail }) => ({ kind, path: pathText(path), detail }),
  );
  const paths = new Set(shape.map(({ path }) => path));
  const breaches = (await contractBreaches(exchange, live.body))
    .map(({ path, problem }) => ({ path: pathText(path), problem }))
    .filter(({ path }) => !paths.has(path));
  return [
    ...shape.map(({ kind, path, detail }) => `${kind.padEnd(8)} ${path} (${detail})`),
    ...breaches.map(({ path, problem }) => `contract ${path}: ${problem}`),
  ];
}

/** Only the headers that the exchange lists: proxies on the way add others. */
function comparable({ response }: Exchange, { headers, body }: Exchange["response"]) {
  const listed = Object.entries(headers).filter(([name]) => Object.hasOwn(response.headers, name));
  return { headers: Object.fromEntries(listed), body };
}

/** A path at which the shapes of two JSON values differ. */
interface ShapeDifference {
  readonly kind: "missing" | "new" | "type";
  readonly path: readonly PropertyKey[];
  /** Such as "number", or "number became string". */
  readonly detail: string;
}

/**
 * Compares the keys and types of a value with those of its samples, never the values. A key that only
 * some samples have is optional. The items of an array are samples of each other; their number is free.
 */
export function compareShapes(
  samples: readonly unknown[],
  actual: unknown,
  path: readonly PropertyKey[],
): ShapeDifference[] {
  const type = typeOf(actual);
  const alike = samples.filter((sample) => typeOf(sample) === type);
  if (alike.length === 0) {
    return [{ kind: "type", path, detail: `${typesOf(samples)} became ${type}` }];
  }
  if (Array.isArray(actual)) {
    const items = alike.flat();
    return actual.flatMap((item, index) => compareOrAdd(items, item, [...path, index]));
  }
  return isObject(actual) ? compareFields(alike.filter(isObject), actual, path) : [];
}

function compareOrAdd(
  samples: readonly unknown[],
  actual: unknown,
  path: readonly PropertyKey[],
): ShapeDifference[] {
  if (samples.length > 0) return compareShapes(samples, actual, path);
  return [{ kind: "new", path, detail: typeOf(actual) }];
}

function compareFields(
  samples: readonly object[],
  actual: object,
  path: readonly PropertyKey[],
): ShapeDifference[] {
  const entries = samples.flatMap((sample): [string, unknown][] => Object.entries(sample));
  const known = Map.groupBy(entries, ([key]) => key);
  const valuesOf = (key: string) => (known.get(key) ?? []).map(([, value]) => value);
  const missing = [...known.keys()].flatMap((key): ShapeDifference[] => {
    const values = valuesOf(key);
    if (values.length < samples.length || Object.hasOwn(actual, key)) return [];
    return [{ kind: "missing", path: [...path, key], detail: typesOf(values) }];
  });
  const others = Object.entries(actual).flatMap(([key, value]) =>
    compareOrAdd(valuesOf(key), value, [...path, key]),
  );
  return [...missing, ...others];
}

function typesOf(values: readonly unknown[]): string {
  return [...new Set(values.map(typeOf))].join(" or ");
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
