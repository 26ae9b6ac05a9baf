import { type EvaluationRequest, perQuestions } from "./request.ts";
import { imagesIn, withoutImageBytes } from "./state.ts";

// Fitted to three public tokenizers (o200k, cl100k and that of Llama 3) on prose of 13 languages, JSON,
// code, logs and base64: the table of the test.
const LETTERS_PER_TOKEN = 7;
const LETTERS_OF_A_WORD = 10; // longer ones are compounds, keys and base64
const FURTHER_LETTERS_PER_TOKEN = 3;
const TOKENS_PER_ACCENT = 0.45;
const CAPITALS_PER_TOKEN = 4.5;
const DIGITS_PER_TOKEN = 3;
const MARKS_PER_TOKEN = 2;
const MARKS_OF_A_RULE = 6;
const MARKS_PER_TOKEN_OF_A_RULE = 16;
const SPACES_PER_TOKEN = 64;

const encoder = new TextEncoder();

/**
 * Returns the most tokens of a text, which is its UTF-8 bytes: the tokenizers of today begin with bytes or fall
 * back to them. Some scripts take all of them in older tokenizers, and English takes a quarter.
 */
export function mostTextTokens(text: string): number {
  return encoder.encode(text).length;
}

type Run = "word" | "capitals" | "digits" | "marks" | "space" | "wide";

/**
 * Estimates the tokens of a text in one pass: by its runs of words, capitals, digits and marks, and by the
 * alphabet of other characters. Within 25 % of public tokenizers for prose, JSON, code and base64.
 */
export function estimateTextTokens(text: string): number {
  let tokens = 0;
  let run: Run = "wide";
  let start = 0;
  const prose = { text, words: 0, english: 0, letters: 0, tokens: 0 };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? (asciiRuns[code] as Run) : isLatin(code) ? "word" : "wide";
    if (kind !== run) {
      // A capital begins the word of the small letters after it.
      const begun = run === "capitals" && kind === "word" ? at - 1 : at;
      tokens += tokensOfRun(run, begun - start);
      if (run === "word") addWord(prose, start, at);
      run = kind;
      start = begun;
    }
    if (code >= 128) tokens += kind === "wide" ? tokensOfCharacter(code) : TOKENS_PER_ACCENT;
  }
  if (run === "word") addWord(prose, start, text.length);
  tokens += tokensOfRun(run, text.length - start);
  return Math.round(tokens + prose.tokens + foreignTokens(prose));
}

const SPACE = 32;
const COMMA = 44;

/** Words of a text between spaces or commas: others are names and code. */
interface Prose {
  readonly text: string;
  words: number;
  /** English words among the first ones. */
  english: number;
  /** Letters beyond the first ones of each word, without those of its end. */
  letters: number;
  /** Tokens of the parts so far, which have one language each. */
  tokens: number;
}

/** The first words of a part show its language. */
const WORDS_OF_A_PART = 256;
const SHOWN_WORDS = 64;
const FEWEST_WORDS = 6;
const SHARE_OF_ENGLISH = 0.08;
const FIRST_LETTERS = 4;
const LETTERS_PER_FOREIGN_TOKEN = 3.5;

/** Frequent in English, and in few other languages. */
const englishWords = new Set(
  "the and to that with this you your not are from have will if or by it".split(" "),
);

function addWord(prose: Prose, start: number, end: number): void {
  const { text } = prose;
  const next = text.charCodeAt(end); // NaN at the end
  if (text.charCodeAt(start - 1) !== SPACE || (next > SPACE && next !== COMMA)) return;
  const length = end - start;
  if (prose.words < SHOWN_WORDS && length < 5 && englishWords.has(text.slice(start, end))) {
    prose.english += 1;
  }
  prose.words += 1;
  if (length > FIRST_LETTERS) prose.letters += Math.min(length, LETTERS_OF_A_WORD) - FIRST_LETTERS;
  if (prose.words < WORDS_OF_A_PART) return;
  prose.tokens += foreignTokens(prose);
  prose.words = 0;
  prose.english = 0;
  prose.letters = 0;
}

/** Tokenizers know English words best. Returns the further tokens of words in other languages. */
function foreignTokens({ words, english, letters }: Prose): number {
  if (words < FEWEST_WORDS) return 0;
  const share = 1 - english / Math.min(words, SHOWN_WORDS) / SHARE_OF_ENGLISH;
  return (Math.max(0, share) * letters) / LETTERS_PER_FOREIGN_TOKEN;
}

/** Whether a character is a Latin letter with an accent. */
function isLatin(code: number): boolean {
  return code >= 0x00c0 && (code < 0x0250 || (code >= 0x1e00 && code < 0x1f00));
}

function runOf(code: number): Run {
  if (code <= 32) return "space";
  if (code >= 48 && code <= 57) return "digits";
  if (code >= 97 && code <= 122) return "word";
  return code >= 65 && code <= 90 ? "capitals" : "marks";
}

const asciiRuns = Array.from({ length: 128 }, (_, code) => runOf(code));

function tokensOfRun(run: Run, length: number): number {
  if (length === 0 || run === "wide") return 0;
  if (run === "word") {
    const further = Math.max(0, length - LETTERS_OF_A_WORD);
    return (
      Math.max(1, (length - further) / LETTERS_PER_TOKEN) + further / FURTHER_LETTERS_PER_TOKEN
    );
  }
  if (run === "capitals") return Math.max(1, length / CAPITALS_PER_TOKEN);
  if (run === "digits") return Math.ceil(length / DIGITS_PER_TOKEN);
  if (run === "marks") {
    const ruled = Math.max(0, length - MARKS_OF_A_RULE);
    return Math.max(1, (length - ruled) / MARKS_PER_TOKEN) + ruled / MARKS_PER_TOKEN_OF_A_RULE;
  }
  return length === 1 ? 0 : Math.ceil(length / SPACES_PER_TOKEN); // a single space belongs to the next word
}

/** Returns the tokens of one UTF-16 unit beyond ASCII. */
function tokensOfCharacter(code: number): number {
  if (code < 0x0250) return 1; // signs, such as § and °
  if (code < 0x0900) return code < 0x0590 ? 0.38 : 0.5; // Greek and Cyrillic; Hebrew and Arabic
  if (code < 0x2000) return 0.6; // Indic and South-East Asian
  if (code < 0x2e80) return 1; // punctuation and symbols
  return code < 0xd800 || code > 0xdfff ? 0.8 : 1; // CJK; half of an emoji
}

const FRAME_TOKENS = 6; // of {"state": , "questions": }

// The vendor's count for its largest image of 1568 × 1568 pixels, from third parties' bills (unverified).
export const MOST_TOKENS_OF_AN_IMAGE = 6272;

/**
 * Estimates a request's input tokens, by the words, digits and marks of its JSON and by the alphabet of
 * other characters, and 6,272 for an image, which is the highest known count.
 */
export function estimateTokens({ state, questions }: EvaluationRequest): number {
  const tokens = FRAME_TOKENS + tokensIn(withoutImageBytes(state)) + tokensInQuestions(questions);
  return tokens + imagesIn(state).length * MOST_TOKENS_OF_AN_IMAGE;
}

const tokensInQuestions = perQuestions(tokensIn);

function tokensIn(value: unknown): number {
  if (typeof value === "string") return 1 + estimateTextTokens(value); // its quotes join other marks
  if (typeof value !== "object" || value === null) return estimateTextTokens(String(value));
  let tokens = 1;
  for (const key in value)
    tokens += 1 + estimateTextTokens(key) + tokensIn((value as Record<string, unknown>)[key]);
  return tokens;
}

function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 4;
  let characters = 2;
  for (const key in value)
    characters += key.length + 4 + charactersIn((value as Record<string, unknown>)[key]);
  return characters;
}

// Chosen so that no request that fits is refused: text of any language has fewer characters per token,
// each word is at least one token, and one token may be many equal characters.
const MOST_CHARACTERS_PER_TOKEN = 8;
const FEWEST_CHARACTERS_PER_WORD = 2;

/** Returns whether a state has more tokens than a limit by any count. */
export function isSurelyOver(state: unknown, mostTokens: number): boolean {
  const read = withoutImageBytes(state);
  if (charactersIn(read) < mostTokens * FEWEST_CHARACTERS_PER_WORD) return false;
  const text = JSON.stringify(read)
    .replace(/\\./g, " ")
    .replace(/(.)\1{3,}/gsu, "$1");
  if (text.length > mostTokens * MOST_CHARACTERS_PER_TOKEN) return true;
  const words = text.match(/\p{L}+/gu);
  return words !== null && words.length > mostTokens;
}
