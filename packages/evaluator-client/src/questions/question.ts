import { frozenCopy } from "./json.ts";

// Without schemas, which have a file of their own: a page that only writes questions takes no more along.

/** A question that picks one of named options; names and descriptions are both read by the model. */
export interface ChoiceQuestion<TOption extends string = string> {
  readonly type: "choice";
  /** The question text. */
  readonly instructions: string;
  /** Option name to description, at least one. */
  readonly criteria: Readonly<Record<TOption, string>>;
}

/** A question that places the state on ordered levels; the position in the list is the level index. */
export interface ScoreQuestion<TLevels extends readonly string[] = readonly string[]> {
  readonly type: "score";
  /** The question text. */
  readonly instructions: string;
  /** Level sentences from index 0 up, at least one. */
  readonly criteria: TLevels;
}

/** A yes/no question; `criteria` is left out in the contract and understood by the vendor (field fact). */
export interface BooleanQuestion {
  readonly type: "boolean";
  /** The question text. */
  readonly instructions: string;
  /** What counts as yes and as no. */
  readonly criteria?: { readonly true?: string; readonly false?: string };
}

/** One typed question (contract section 2.2). */
export type Question = ChoiceQuestion | ScoreQuestion | BooleanQuestion;

/** Question id to question; the model never sees the id. */
export type Questions = Readonly<Record<string, Question>>;

/** How large a question may be before it is rejected without sending (field facts). */
export interface QuestionLimits {
  /** Options of a choice question. @default 255 */
  readonly maxOptions?: number;
  /** Levels of a score question. @default 10 */
  readonly maxLevels?: number;
}

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

const MAX_LENGTH = 60;

/**
 * Returns an id or option name in quotes for a message, shortened, with nothing that breaks the
 * line.
 */
export function quoteName(name: string): string {
  const whole = JSON.stringify(name.length > MAX_LENGTH ? `${name.slice(0, MAX_LENGTH)}…` : name);
  return whole.replace(/\p{Cf}/gu, "");
}
