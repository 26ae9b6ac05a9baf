import { frozenCopy } from "./constant-questions.ts";
import type { BooleanQuestion, ChoiceQuestion, ScoreQuestion } from "./question.ts";

/**
 * Builds a question that picks exactly one of the named options.
 *
 * @param instructions - The question text.
 * @param criteria - Option name to description; the model reads both.
 * @example
 * ```ts
 * choice("What kind of email is this?", { receipt: "a payment receipt", other: "none of the above" });
 * ```
 */
export function choice<const TOption extends string>(
  instructions: string,
  criteria: Readonly<Record<TOption, string>>,
): ChoiceQuestion<TOption> {
  return frozenCopy({ type: "choice", instructions, criteria });
}

/**
 * Builds a question that places the state on ordered levels, index 0 first.
 *
 * @param instructions - The question text.
 * @param criteria - One sentence for each level; the answer's keys are their indexes.
 * @example
 * ```ts
 * score("How important is it?", ["ignore: nothing to do", "high: reply within days"]);
 * ```
 */
export function score<const TLevels extends readonly string[]>(
  instructions: string,
  criteria: TLevels,
): ScoreQuestion<TLevels> {
  return frozenCopy({ type: "score", instructions, criteria });
}

/**
 * Builds a yes/no question; its answer is the probability of yes.
 *
 * @param instructions - The question text.
 * @param criteria - What counts as yes and as no; left out in the contract's form.
 * @example
 * ```ts
 * boolean("Does it look like a scam?");
 * ```
 */
export function boolean(
  instructions: string,
  criteria?: { readonly true?: string; readonly false?: string },
): BooleanQuestion {
  return frozenCopy(
    criteria === undefined
      ? { type: "boolean", instructions }
      : { type: "boolean", instructions, criteria },
  );
}
