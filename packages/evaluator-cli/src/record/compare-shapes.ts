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
