import type { ShownAnswer, ShownQuestion } from "./mail-row.ts";

/** Below this a confidence is low. */
export const LOW_CONFIDENCE = 0.5;
/** Within this of one half a probability is undecided. */
export const UNDECIDED_WITHIN = 0.2;
// 0.7 - 0.5 is a little less than 0.2 for a computer, and not for a person.
const EPSILON = 1e-9;

/** Returns in words what the model was unsure of: low confidences, and probabilities around one half. */
export function doubtsOf(
  answers: readonly ShownAnswer[],
  questions: readonly ShownQuestion[],
): string[] {
  return questions.flatMap(({ title, form }, at) => {
    const answer = answers[at];
    if (answer === undefined) return [];
    const { value, confidence, shares } = answer;
    const what = title.toLowerCase();
    if (form === "probability") {
      const isOpen = Math.abs(value - 0.5) < UNDECIDED_WITHIN - EPSILON;
      return isOpen ? [`${what} ${value.toFixed(2)}`] : [];
    }
    if (confidence !== null) {
      return confidence < LOW_CONFIDENCE ? [`${what} conf ${confidence.toFixed(2)}`] : [];
    }
    // An engine that gives none: an option that has less than half has more against it than for it.
    const share = shares[value] ?? 1;
    return form === "option" && share < 0.5 ? [`${what} share ${share.toFixed(2)}`] : [];
  });
}
