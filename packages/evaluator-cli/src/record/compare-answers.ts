import { type Exchange, pathText } from "evaluator-client/testing";
import { contractBreaches } from "./contract-breaches.ts";
import type { LiveCall } from "./live-calls.ts";

/**
 * Returns the differences of an answer to its exchange and the contract, such as
 * `new      response.body.usage.cachedTokens (number)`; they hold no value.
 */
export async function findDifferences({ exchange, samples }: LiveCall, live: Exchange["response"]) {
  const known = samples.map(({ response }) => comparable(exchange, response));
  const shape = compareShapes(known, comparable(exchange, live), ["response"]);
  const paths = new Set(shape.map(({ path }) => pathText(path)));
  const breaches = (await contractBreaches(exchange, live.body)).filter(
    ({ path }) => !paths.has(pathText(path)),
  );
  return [
    ...shape.map(({ kind, path, detail }) => `${kind.padEnd(8)} ${pathText(path)} (${detail})`),
    ...breaches.map(({ path, problem }) => `contract ${pathText(path)}: ${problem}`),
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
  if (samples.length === 0) return [{ kind: "new", path, detail: type }];
  const alike = samples.filter((sample) => typeOf(sample) === type);
  if (alike.length === 0) {
    return [{ kind: "type", path, detail: `${typesOf(samples)} became ${type}` }];
  }
  if (Array.isArray(actual)) {
    return actual.flatMap((item, index) => compareShapes(alike.flat(), item, [...path, index]));
  }
  if (typeof actual !== "object" || actual === null) return [];
  const entries = alike.flatMap((sample) => Object.entries(sample as object));
  const known = Map.groupBy(entries, ([key]) => key);
  const valuesOf = (key: string) => (known.get(key) ?? []).map(([, value]): unknown => value);
  const missing = [...known.keys()].flatMap((key): ShapeDifference[] => {
    const values = valuesOf(key);
    if (values.length < alike.length || Object.hasOwn(actual, key)) return [];
    return [{ kind: "missing", path: [...path, key], detail: typesOf(values) }];
  });
  const others = Object.entries(actual).flatMap(([key, value]) =>
    compareShapes(valuesOf(key), value, [...path, key]),
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
