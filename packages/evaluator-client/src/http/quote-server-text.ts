const MAX_QUOTE = 300;
const SHARED_RUN = 24;
const SHORTEST_VALUE = 4;
const SHORTEST_KEY = 12;

/** What must never be repeated from a server's text. */
export interface PrivateText {
  /** The key in use, or null. */
  readonly apiKey: string | null;
  /** The headers that the caller added, whose values may be secrets. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The state that was sent, if any. */
  readonly state?: unknown;
}

/**
 * Quotes a server's own words for an error message: one line, at most 300 characters, and only
 * when they repeat no key, header value or piece of the state; otherwise null.
 */
export function quoteServerText(
  text: unknown,
  { apiKey, headers = {}, state }: PrivateText,
): string | null {
  if (typeof text !== "string" || text.trim() === "") return null;
  // Control characters, line breaks and terminal escapes do not belong in a one-line message.
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  if (apiKey !== null && (line.includes(apiKey) || sharesRun(line, apiKey, 8))) return null;
  if ([...Object.values(headers), ...textsOf(state)].some((part) => repeats(line, part)))
    return null;
  return line.length > MAX_QUOTE ? `"${line.slice(0, MAX_QUOTE)}…"` : `"${line}"`;
}

function repeats(line: string, part: string): boolean {
  const flat = part.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  if (flat.length < SHORTEST_VALUE) return false;
  return line.includes(flat) || sharesRun(line, flat, SHARED_RUN);
}

function sharesRun(line: string, secret: string, length: number): boolean {
  for (let start = 0; start + length <= line.length; start += 1) {
    if (secret.includes(line.slice(start, start + length))) return true;
  }
  return false;
}

/** Every string value in a JSON value, and the keys long enough to be more than a field name. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const keys = Object.keys(value).filter((key) => key.length >= SHORTEST_KEY);
  return [...keys, ...Object.values(value).flatMap((item) => textsOf(item))];
}
