import type { EvaluationRequest } from "../evaluation.ts";
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
