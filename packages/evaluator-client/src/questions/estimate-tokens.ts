import type { EvaluationRequest } from "../evaluation.ts";

const CHARACTERS_PER_TOKEN = 4;

/** An estimate of a request's input tokens: a quarter of its JSON's characters, not the service's count. */
export function estimateTokens(request: EvaluationRequest): number {
  return Math.ceil(charactersIn(request) / CHARACTERS_PER_TOKEN);
}

function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 4;
  let characters = 2;
  for (const [key, item] of Object.entries(value))
    characters += key.length + 4 + charactersIn(item);
  return characters;
}
