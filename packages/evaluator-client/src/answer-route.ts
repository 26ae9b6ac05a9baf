/** Who answered a question that several evaluators may be asked, see `escalate`. */
export interface AnswerRoute {
  /** The position of the evaluator that answered; 1 is the first. */
  readonly step: number;
  readonly transport: string;
  /** The model that answered, or null if unknown. */
  readonly modelId: string | null;
  /** Whether the answer is within the bounds of its evaluator, or null if it has none. */
  readonly isSure: boolean | null;
  /** Why the next evaluator gave no answer although this one is unsure, or null. */
  readonly failure: string | null;
}
