/** Replaces every secret in a text. */
export interface Redact {
  (text: string): string;
  /** Does the same to one text that comes in pieces. */
  readonly inPieces: () => PieceRedactor;
}

/** Redacts a text while it comes: what may be the start of a secret is held back until it is not. */
interface PieceRedactor {
  /** Gives what can be shown once this piece has come. */
  readonly add: (piece: string) => string;
  /** Gives what was still held back. */
  readonly end: () => string;
}

/** A shorter value is no secret, and its letters may well be a part of any word. */
const SHORTEST_SECRET = 8;
const MARK = "[secret]";

/** Gives a function that replaces the given secrets, those of fewer than 8 characters excepted. */
export function redactor(values: readonly string[]): Redact {
  const secrets = values
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length);
  const redact = (text: string) =>
    secrets.reduce((left, secret) => left.replaceAll(secret, MARK), text);
  return Object.assign(redact, {
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

/** The part of a text that no further piece can change, redacted, and the rest as it is. */
function clearOf(text: string, longestFirst: readonly string[]): { clear: string; rest: string } {
  let clear = "";
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at);
    const mayGoOn = (secret: string) => secret.length > rest.length && secret.startsWith(rest);
    if (longestFirst.some(mayGoOn)) return { clear, rest };
    const secret = longestFirst.find((known) => rest.startsWith(known));
    clear += secret === undefined ? text.charAt(at) : MARK;
    at += secret?.length ?? 1;
  }
  return { clear, rest: "" };
}
