/** `JSON.stringify` overflows the stack at a few thousand; a deep schema of a tool has about 30. */
const MAX_DEPTH = 200;

/** The problem of a body that {@link deepPath} finds. */
export const TOO_DEEP = `nested more than ${MAX_DEPTH} levels deep; send less`;

/** Returns the start of a path that is too deep, or null. */
export function deepPath(value: unknown, path: readonly string[] = []): readonly string[] | null {
  if (typeof value !== "object" || value === null) return null;
  if (path.length > MAX_DEPTH) return path.slice(0, 8);
  for (const [fieldName, innerValue] of Object.entries(value)) {
    const deep = typeof innerValue === "object" ? deepPath(innerValue, [...path, fieldName]) : null;
    if (deep !== null) return deep;
  }
  return null;
}
