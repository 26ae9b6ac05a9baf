import type { GivenAnswers } from "../target.ts";

/** The answers of a response body, taken at its word. */
export function answersIn(body: unknown): GivenAnswers {
  return (body as { answers: GivenAnswers }).answers;
}
