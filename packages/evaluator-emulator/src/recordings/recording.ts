import type { Judgement } from "../answers/judgement.ts";
import type { EvaluationInput } from "../questions/evaluation-input.ts";

/** A recorded exchange in the form every wire shares. */
export interface Recording {
  readonly input: EvaluationInput;
  readonly judgement: Judgement;
}
