import { type EvaluationRequest, perQuestions } from "./request.ts";
import { imagesIn, withoutImageBytes } from "./state.ts";

// Fitted to three public tokenizers (o200k, cl100k and that of Llama 3) on prose of ten languages, JSON,
// code and logs: the table of the test.
const LETTERS_PER_TOKEN = 7;
const DIGITS_PER_TOKEN = 3;
const MARKS_PER_TOKEN = 2;

const encoder = new TextEncoder();

/**
 * Returns the most tokens of a text, which is its UTF-8 bytes: the tokenizers of today begin with bytes or fall
 * back to them. Some scripts take all of them in older tokenizers, and English takes a quarter.
 */
export function mostTextTokens(text: string): number {
  return encoder.encode(text).length;
}

type Run = "word" | "digits" | "marks" | "space" | "wide";

/**
 * Estimates the tokens of a text in one pass: by its runs of words, digits and marks, and by the
 * alphabet of other characters. Within 25 % of public tokenizers for prose, JSON and code.
 */
export function estimateTextTokens(text: string): number {
  let tokens = 0;
  let run: Run = "wide";
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? (asciiRuns[code] as Run) : "wide";
    if (kind !== run) {
      tokens += tokensOfRun(run, length);
      [run, length] = [kind, 0];
    }
    length += 1;
    if (kind === "wide") tokens += tokensOfCharacter(code);
  }
  return Math.round(tokens + tokensOfRun(run, length));
}

function runOf(code: number): Run {
  if (code <= 32) return "space";
  if (code >= 48 && code <= 57) return "digits";
  const letter = code | 32;
  return letter >= 97 && letter <= 122 ? "word" : "marks";
}

const asciiRuns = Array.from({ length: 128 }, (_, code) => runOf(code));

function tokensOfRun(run: Run, length: number): number {
  if (length === 0 || run === "wide") return 0;
  if (run === "word") return Math.max(1, length / LETTERS_PER_TOKEN);
  if (run === "digits") return Math.ceil(length / DIGITS_PER_TOKEN);
  if (run === "marks") return Math.max(1, length / MARKS_PER_TOKEN);
  return length === 1 ? 0 : 1; // a single space belongs to the next word
}

/** Returns the tokens of one UTF-16 unit beyond ASCII. */
function tokensOfCharacter(code: number): number {
  if (code < 0x0250) return code < 0x0100 ? 0.7 : 1.6; // a letter with an accent splits its word
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
