import type { Judgement } from "../answers/judgement.ts";
import type { EvaluationInput } from "../questions/evaluation-input.ts";

/** A request that a form has read. */
interface AskedCall {
  /** Null if the body names none. */
  readonly model: string | null;
  readonly input: EvaluationInput;
  /**
   * Returns the body of the answer.
   *
   * @param model - The name of the model that answered.
   */
  readonly toBody: (judgement: Judgement, modelId: string) => object;
}

/** Reads a body. @throws {RequestError} a 400 that names the first field at fault, never its value. */
export type Form = (requestBody: unknown) => AskedCall;
