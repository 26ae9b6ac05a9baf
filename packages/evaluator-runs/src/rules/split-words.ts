/** A problem in the text of conditions, and its place. */
export class ConditionError extends Error {
  /** The index of the character, from 0. */
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** A piece of the text of conditions. */
export interface Token {
  readonly kind: "word" | "quoted" | "operator" | "comma" | "bar" | "arrow" | "end";
  readonly text: string;
  readonly at: number;
  /** The index after its last character. */
  readonly end: number;
}

const signs: readonly (readonly [text: string, kind: Token["kind"], meaning: string])[] = [
  ["->", "arrow", "→"],
  ["→", "arrow", "→"],
  [">=", "operator", ">="],
  ["≥", "operator", ">="],
  ["<=", "operator", "<="],
  ["≤", "operator", "<="],
  ["!=", "operator", "!="],
  ["≠", "operator", "!="],
  ["=", "operator", "="],
  [">", "operator", ">"],
  ["<", "operator", "<"],
  [",", "comma", ","],
  ["|", "bar", "|"],
];

/**
 * Cuts text into words, quoted names and signs, up to an arrow or a comment.
 *
 * @throws ConditionError for a quote that nothing closes.
 */
export function splitWords(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const token = tokenAt(text, at);
    if (token === null) at += 1;
    else if (token.kind === "end") break;
    else {
      tokens.push(token);
      if (token.kind === "arrow") break;
      at = token.end;
    }
  }
  const last = tokens.at(-1);
  const end = last === undefined ? text.length - text.trimStart().length : last.end;
  return [...tokens, { kind: "end", text: "", at: end, end }];
}

// Null for a space. A comment ends the line; a # in a word does not begin one.
function tokenAt(text: string, at: number): Token | null {
  const character = text.charAt(at);
  if (/\s/u.test(character)) return null;
  if (character === "#") return { kind: "end", text: "", at, end: at };
  if (character === '"') return quotedAt(text, at);
  const sign = signs.find(([sign]) => text.startsWith(sign, at));
  if (sign !== undefined) return { kind: sign[1], text: sign[2], at, end: at + sign[0].length };
  let end = at + 1;
  while (end < text.length && !endsWord(text, end)) end += 1;
  return { kind: "word", text: text.slice(at, end), at, end };
}

function endsWord(text: string, at: number): boolean {
  return /[\s",|=<>≥≤≠→!]/u.test(text.charAt(at)) || text.startsWith("->", at);
}

/** Reads the quoted text that begins at an index: `\"` and `\\` stand for `"` and `\`. */
export function quotedAt(text: string, start: number): Token {
  let quoted = "";
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') return { kind: "quoted", text: quoted, at: start, end: at + 1 };
    if (character === "\\" && /["\\]/.test(text.charAt(at + 1))) at += 1;
    quoted += text.charAt(at);
  }
  throw new ConditionError(start, 'the quote is not closed; end it with "');
}
