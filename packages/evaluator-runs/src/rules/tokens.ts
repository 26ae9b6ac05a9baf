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

// A comment ends the line; a # in a word does not begin one. The closing quote is optional: an attempt
// that fails at the end of a long text would be repeated from each quote in it.
const tokenPattern =
  /(?<comment>#)|(?<arrow>->|→)|(?<operator>[><!]=|[≥≤≠=<>])|(?<comma>,)|(?<bar>\|)|"(?<quoted>(?:\\["\\]|[^"])*)(?<closing>"?)|(?<word>\S(?:(?!->)[^\s",|=<>≥≤≠→!])*)/gu;
const signs = new Map(Object.entries({ "->": "→", "≥": ">=", "≤": "<=", "≠": "!=" }));

/** Cuts text into words, quoted names and signs, from an index up to an arrow or a comment; then its end. */
export function* listTokens(conditionText: string, fromIndex = 0): Generator<Token> {
  let end = conditionText.length - conditionText.slice(fromIndex).trimStart().length;
  tokenPattern.lastIndex = fromIndex;
  for (const { 0: matchedText, index: at, groups = {} } of conditionText.matchAll(tokenPattern)) {
    const groupNames = Object.keys(groups) as (Token["kind"] | "comment")[];
    const kind = groupNames.find((groupName) => groups[groupName] !== undefined) ?? "comment";
    if (kind === "comment") break;
    if (groups["closing"] === "") {
      throw new ConditionError(at, 'the quote is not closed; end it with "');
    }
    const tokenText = groups[kind] ?? "";
    const read = kind === "quoted" ? tokenText.replace(/\\(["\\])/g, "$1") : signs.get(tokenText);
    end = at + matchedText.length;
    yield { kind, text: read ?? tokenText, at, end };
    if (kind === "arrow") break;
  }
  yield { kind: "end", text: "", at: end, end };
}
