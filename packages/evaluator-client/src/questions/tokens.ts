import { type EvaluationRequest, perQuestions } from "./request.ts";
import { imagesIn, withoutImageBytes } from "./state.ts";
import { estimateTextTokens } from "./text-tokens.ts";

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

/** Returns the characters of a value as JSON, without escapes. */
export function charactersIn(value: unknown): number {
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
