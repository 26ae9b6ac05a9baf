/** Replaces every secret in a text. */
export type Redact = (text: string) => string;

/** Gives a function that replaces the given secrets, the empty one excepted. */
export function redactor(secrets: readonly string[]): Redact {
  const longestFirst = secrets
    .filter((secret) => secret !== "")
    .toSorted((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((left, secret) => left.replaceAll(secret, "[secret]"), text);
}
