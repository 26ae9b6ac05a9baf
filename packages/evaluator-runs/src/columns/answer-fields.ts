import { type CalibrationArtifact, recalibrationOf } from "evaluator-calibration";
import type { Questions } from "evaluator-client";

/** The output fields of one question. */
export interface AnswerField {
  readonly questionId: string;
  readonly type: "choice" | "score" | "boolean";
  /** Where the option, the mean level or the probability goes. */
  readonly field: string;
  /** Where the confidence goes; a boolean has none. */
  readonly confidenceField: string | null;
  /** Where the value goes as it was printed, when a calibration changes it. */
  readonly printedField: string | null;
}

/** Returns the output fields of questions in order; for the default ones, the contract's (section 4.7). */
export function answerFields(
  questions: Questions,
  calibration: CalibrationArtifact | null = null,
): AnswerField[] {
  return Object.entries(questions).map(([questionId, { type }]) => {
    const field = toCamelCase(questionId);
    const confidenceField = type === "boolean" ? null : `${field}Conf`;
    // A calibration leaves the option that is picked.
    const isChanged =
      type !== "choice" &&
      calibration !== null &&
      recalibrationOf(calibration, questionId) !== null;
    const printedField = isChanged ? `${field}Printed` : null;
    return { questionId, type, field, confidenceField, printedField };
  });
}

function toCamelCase(id: string): string {
  return id.replace(/[_\-\s]+(\S)/gu, (_, letter: string) => letter.toUpperCase());
}
