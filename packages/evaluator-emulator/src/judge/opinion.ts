/** What the judge thinks of one question, before rounding. */
export interface Opinion {
  /** One probability for each option or level in order; for a yes/no question, that of yes. */
  readonly probabilities: readonly number[];
  /** Whether anything in the text spoke for an answer; otherwise the probabilities are uniform. */
  readonly isInformed: boolean;
}
