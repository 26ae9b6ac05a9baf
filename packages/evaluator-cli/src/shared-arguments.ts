import { DEFAULT_SEED } from "evaluator-calibration";
import { readWholeNumber, UsageError } from "evaluator-kit";

/** Returns the names of answer files: those after the option, and the words that follow them. */
export function readAnswerNames(
  given: readonly string[] | undefined,
  more: readonly string[],
): readonly string[] {
  if (given !== undefined && given.length > 0) return [...given, ...more];
  throw new UsageError("--answers is missing: a triage journal, a decision log, or lines of JSON.");
}

/** Returns the seed that was typed, or the one that reports have by default. */
export function readSeed(text: string | undefined): number {
  return text === undefined ? DEFAULT_SEED : readWholeNumber("--seed", text);
}

/** Returns a share typed as `5%` or `0.05`. */
export function readShare(option: string, text: string): number {
  const match = /^(\d{1,3}(?:\.\d{1,9})?)\s?(%?)$/.exec(text.trim());
  const share = match === null ? Number.NaN : Number(match[1]) / (match[2] === "%" ? 100 : 1);
  if (share > 0 && share < 1) return share;
  throw new UsageError(`${option} takes a share above 0 and below 1, such as ${option} 5%.`);
}
