import type { EvaluationRequest } from "./request.ts";
import { perQuestions } from "./constant-questions.ts";

const CHARACTERS_PER_TOKEN = 4;
const FRAME = '{"state": , "questions": }'.length;

/** An estimate of a request's input tokens: a quarter of its JSON's characters, not the service's count. */
export function estimateTokens(request: EvaluationRequest): number {
  const characters = FRAME + charactersIn(request.state) + charactersInQuestions(request.questions);
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

const charactersInQuestions = perQuestions(charactersIn);

function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 4;
  let characters = 2;
  for (const [key, item] of Object.entries(value))
    characters += key.length + 4 + charactersIn(item);
  return characters;
}

// Text of any language has fewer characters to a token; a word is at least one.
const MOST_CHARACTERS_PER_TOKEN = 8;
const FEWEST_CHARACTERS_PER_WORD = 2;
const MOST_TOKENS = 32_000;

/** Returns whether a state is over the service's 32k tokens (contract section 8), however it counts. */
export function isSurelyTooLong(state: unknown): boolean {
  const characters = typeof state === "string" ? state.length : textIn(state);
  if (characters < MOST_TOKENS * FEWEST_CHARACTERS_PER_WORD) return false;
  if (characters > MOST_TOKENS * MOST_CHARACTERS_PER_TOKEN) return true;
  return wordsIn(state) > MOST_TOKENS;
}

function textIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let characters = 0;
  for (const key in value) characters += textIn((value as Record<string, unknown>)[key]);
  return characters;
}

function wordsIn(value: unknown): number {
  if (typeof value === "string") return value.match(/\p{L}+/gu)?.length ?? 0;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((words: number, item) => words + wordsIn(item), 0);
}
