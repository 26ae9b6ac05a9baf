import { findSecrets } from "./find-secrets.ts";

/**
 * Returns what a JSON value holds that looks private and where, such as "a bearer value in
 * response.headers.retry-after", or null. Never repeats it.
 *
 * @param name - What the path begins with, such as `response`.
 */
export function findSecretIn(value: unknown, name: string): string | null {
  for (const { path, text } of textsIn(value, [name])) {
    const [secret] = findSecrets(text);
    if (secret !== undefined) return `${secret.kind} in ${pathText(path)}`;
  }
  // What only the file's text shows, such as a field named like a header that carries a key.
  const [secret] = findSecrets(JSON.stringify(value, (_key, item) => (isImage(item) ? "" : item)));
  return secret === undefined ? null : secret.kind;
}

/** An image looks as random as a key. */
function isImage(value: unknown): boolean {
  return typeof value === "string" && /^data:image\/[\w.+-]{1,40};base64,[\w+/=]*$/.test(value);
}

interface TextAtPath {
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

/** Returns every string and every key of a JSON value. */
function textsIn(value: unknown, path: readonly PropertyKey[]): TextAtPath[] {
  if (typeof value === "string") return isImage(value) ? [] : [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, [...path, index]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const keyPath = [...path, key];
    const ownKey: TextAtPath = { path: keyPath, text: key };
    return [ownKey].concat(textsIn(item, keyPath));
  });
}

const longest = 60;

/**
 * Returns a path in a JSON value as text, such as `response.body.answers["my id"].choice`; `[]` is
 * any item of an array. A key that is long or looks like a secret is shown as `["…"]`.
 */
export function pathText(path: readonly PropertyKey[]): string {
  return path.map((key, index) => (index === 0 ? String(key) : segment(key))).join("");
}

function segment(key: PropertyKey): string {
  return typeof key === "number" ? "[]" : keyText(String(key));
}

/** Returns a key as it stands in a path, such as `.choice`, `["my id"]` or `["…"]`. */
export function keyText(name: string): string {
  if (/^[A-Za-z_$][\w$]*$/.test(name) && isPrintable(name)) return `.${name}`;
  return isPrintable(name) ? `[${JSON.stringify(name)}]` : '["…"]';
}

function isPrintable(name: string): boolean {
  return name.length <= longest && !/\p{C}/u.test(name) && findSecrets(name).length === 0;
}
