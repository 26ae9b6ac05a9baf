import type { EvaluationInput } from "../questions/question.ts";

/** What an answer is based on, as the header `x-evaluator-emulator` names it. */
export type Basis = "recorded" | "rule" | "lexical" | "none";

/** A choice as it is printed: rounded, with its confidence where one was given. */
export interface JudgedChoice {
  readonly type: "choice";
  readonly choice: string;
  readonly probabilities: Readonly<Record<string, number>>;
  readonly confidence: number | null;
}

/** A score as it is printed. */
export interface JudgedScore {
  readonly type: "score";
  readonly score: number;
  readonly probabilities: Readonly<Record<string, number>>;
  readonly confidence: number | null;
}

/** A yes/no answer as it is printed; it has no confidence (contract section 2.4). */
interface JudgedBoolean {
  readonly type: "boolean";
  readonly probability: number;
}

/** One printed answer, the same whichever wire it leaves by. */
export type JudgedAnswer = JudgedChoice | JudgedScore | JudgedBoolean;

/** Everything an answered request says, before a wire gives it its form. */
export interface Judgement {
  readonly basis: Basis;
  /** The release a recording names, or null. */
  readonly release: string | null;
  readonly answers: Readonly<Record<string, JudgedAnswer>>;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  /** To how many decimal places the answers are printed. */
  readonly decimals: number;
}

/**
 * One way to answer, printed to so many decimal places at most; null leaves the request to the next.
 */
export type AnswerSource = (input: EvaluationInput, decimals: number) => Judgement | null;
