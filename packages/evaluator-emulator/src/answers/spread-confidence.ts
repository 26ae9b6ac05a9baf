/**
 * How far a distribution is from flat, 0..1: one minus its entropy over the highest possible.
 * The emulator's own measure; the vendor's formula is not published (contract section 2.5).
 */
export function spreadConfidence(probabilities: readonly number[]): number {
  if (probabilities.length === 1) return 1;
  const entropy = probabilities
    .filter((probability) => probability > 0)
    .reduce((total, probability) => total - probability * Math.log(probability), 0);
  return Math.min(1, Math.max(0, 1 - entropy / Math.log(probabilities.length)));
}
