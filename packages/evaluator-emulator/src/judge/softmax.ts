/** Turns scores into probabilities that sum to 1; equal scores give equal probabilities. */
export function softmax(scores: readonly number[]): number[] {
  const highest = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(score - highest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
