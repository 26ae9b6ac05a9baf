// It knows the secrets and replaces them in text that has to go on, a piece at a time. The client drops a
// server's words that repeat one, since its errors can do without them.

/** Replaces every secret in a text. */
export interface Redact {
  (text: string): string;
  /**
   * Replaces parts of a key too, 8 characters in a row and more: services print half of a wrong key
   * in their errors. A reply is only freed of whole secrets: a model's prose may share a word with
   * a key, and holding its pieces back for that would tear it.
   */
  readonly strictly: (text: string) => string;
  /** Does the same to one text that comes in pieces. */
  readonly inPieces: () => PieceRedactor;
}

/** Redacts a text while it comes: what may be the start of a secret is held back until it is not. */
interface PieceRedactor {
  /** Returns what can be shown once this piece has come. */
  readonly add: (piece: string) => string;
  /** Returns what was still held back. */
  readonly end: () => string;
}

/** A shorter value is no secret, and its letters may well be a part of any word. Chosen. */
const SHORTEST_SECRET = 8;
const MARK = "[secret]";

/** Returns a function that replaces the given secrets, those of fewer than 8 characters excepted. */
export function redactor(values: readonly string[]): Redact {
  const secrets = values
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length);
  const redact = (text: string) =>
    secrets.reduce((left, secret) => left.replaceAll(secret, MARK), text);
  // Part of an address, such as "localhost", is no secret; its password is one by itself.
  const runs = runsOf(secrets.filter((secret) => !secret.includes("://")));
  return Object.assign(redact, {
    strictly: (text: string) => withoutRuns(redact(text), runs),
    inPieces(): PieceRedactor {
      let held = "";
      return {
        add(piece) {
          const { clear, rest } = clearOf(held + piece, secrets);
          held = rest;
          return clear;
        },
        end: () => redact(held),
      };
    },
  });
}

/** Every run of the shortest secret's length that a secret holds. */
function runsOf(secrets: readonly string[]): ReadonlySet<string> {
  const runs = new Set<string>();
  for (const secret of secrets) {
    for (let at = 0; at + SHORTEST_SECRET <= secret.length; at += 1) runs.add(runAt(secret, at));
  }
  return runs;
}

function runAt(text: string, start: number): string {
  return text.slice(start, start + SHORTEST_SECRET);
}

/** Each place is looked at once, and runs that overlap are one mark. */
function withoutRuns(text: string, runs: ReadonlySet<string>): string {
  let clear = "";
  let from = 0; // behind what is written or marked
  for (let at = 0; at + SHORTEST_SECRET <= text.length; at += 1) {
    if (!runs.has(runAt(text, at))) continue;
    if (at > from || from === 0) clear += text.slice(from, at) + MARK;
    from = at + SHORTEST_SECRET;
  }
  return clear + text.slice(from);
}

/**
 * The part of a text that no further piece can change, redacted, and the rest as it is. Each secret
 * is searched for as a whole, so a text without one is looked at once and never by the character.
 */
function clearOf(text: string, longestFirst: readonly string[]): { clear: string; rest: string } {
  const next = longestFirst.map((secret) => ({ secret, at: text.indexOf(secret) }));
  let clear = "";
  let from = 0;
  for (;;) {
    const begun = findBegun(text, from, longestFirst);
    const found = earliest(next);
    if (found === null || begun <= found.at) {
      return { clear: clear + text.slice(from, begun), rest: text.slice(begun) };
    }
    clear += text.slice(from, found.at) + MARK;
    from = found.at + found.secret.length;
    for (const each of next) {
      if (each.at !== -1 && each.at < from) each.at = text.indexOf(each.secret, from);
    }
  }
}

interface Found {
  readonly secret: string;
  at: number;
}

/** The secret that comes first, the longest where several begin there, or null. */
function earliest(longestFirst: readonly Found[]): Found | null {
  let first: Found | null = null;
  for (const found of longestFirst) {
    if (found.at !== -1 && (first === null || found.at < first.at)) first = found;
  }
  return first;
}

/** Where a secret begins that the end of the text cuts off; the text's length when nowhere. */
function findBegun(text: string, from: number, secrets: readonly string[]): number {
  let begun = text.length;
  for (const secret of secrets) {
    let at = Math.max(from, text.length - secret.length + 1);
    while ((at = text.indexOf(secret.charAt(0), at)) !== -1 && at < begun) {
      if (secret.startsWith(text.slice(at))) begun = at;
      at += 1;
    }
  }
  return begun;
}
