/** A path at which a JSON value has another shape: a key too few or too many, or another type. */
interface ShapeDifference {
  readonly kind: "missing" | "new" | "type";
  readonly path: readonly PropertyKey[];
  /** Such as "number", or "number became string". */
  readonly detail: string;
}

/**
 * Returns where the shape of a JSON value differs from that of all samples: keys and types, never
 * values. A key that only some samples have may be there or not. The items of an array are samples
 * of each other; their number does not count.
 */
export function compareShapes(
  samples: readonly unknown[],
  actual: unknown,
  path: readonly PropertyKey[],
): ShapeDifference[] {
  const type = typeOf(actual);
  const alike = samples.filter((sample) => typeOf(sample) === type);
  if (alike.length === 0)
    return [{ kind: "type", path, detail: `${typesOf(samples)} became ${type}` }];
  if (Array.isArray(actual)) return compareItems(alike.flat(), actual, path);
  return isObject(actual) ? compareFields(alike.filter(isObject), actual, path) : [];
}

function compareItems(
  samples: readonly unknown[],
  actual: readonly unknown[],
  path: readonly PropertyKey[],
): ShapeDifference[] {
  return actual.flatMap((item, index): ShapeDifference[] => {
    const itemPath = [...path, index];
    if (samples.length > 0) return compareShapes(samples, item, itemPath);
    return [{ kind: "new", path: itemPath, detail: typeOf(item) }];
  });
}

function compareFields(
  samples: readonly object[],
  actual: object,
  path: readonly PropertyKey[],
): ShapeDifference[] {
  const fields = new Map<string, unknown>(Object.entries(actual));
  const known = samplesByKey(samples);
  const missing = [...known]
    .filter(([key, values]) => values.length === samples.length && !fields.has(key))
    .map(([key, values]): ShapeDifference => {
      return { kind: "missing", path: [...path, key], detail: typesOf(values) };
    });
  const others = [...fields].flatMap(([key, value]): ShapeDifference[] => {
    const values = known.get(key);
    if (values !== undefined) return compareShapes(values, value, [...path, key]);
    return [{ kind: "new", path: [...path, key], detail: typeOf(value) }];
  });
  return [...missing, ...others];
}

function samplesByKey(samples: readonly object[]): Map<string, unknown[]> {
  const byKey = new Map<string, unknown[]>();
  for (const [key, value] of samples.flatMap((sample): [string, unknown][] =>
    Object.entries(sample),
  )) {
    byKey.set(key, [...(byKey.get(key) ?? []), value]);
  }
  return byKey;
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
