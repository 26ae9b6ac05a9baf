/** What the judge thinks of one question, before rounding. */
export interface Opinion {
  /** One probability for each option or level in order; for a yes/no question, that of yes. */
  readonly probabilities: readonly number[];
  /** Whether anything in the text spoke for an answer; otherwise the probabilities are uniform. */
  readonly isInformed: boolean;
}

/**
 * Returns an opinion from how strongly the state speaks for each criterion; uniform when all are
 * equal.
 */
export function opinionFromScores(scores: readonly number[]): Opinion {
  const isInformed = scores.some((score) => score !== scores[0]);
  return {
    probabilities: isInformed ? temper(softmax(scores)) : scores.map(() => 1 / scores.length),
    isInformed,
  };
}

/** Turns scores into probabilities that sum to 1; equal scores give equal probabilities. */
function softmax(scores: readonly number[]): number[] {
  const highest = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(score - highest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

// Chosen: no option is ever ruled out. At twice it no choice of seven reaches the highest share.
const uniformShare = 0.1;

// The highest probability of one option or level. Chosen, so that nobody takes it for a model's.
const highestShare = 0.85;

/** Mixes a distribution with the uniform one and caps its peak; a stand-in is never sure. */
function temper(probabilities: readonly number[]): number[] {
  const uniform = 1 / probabilities.length;
  const mixed = probabilities.map(
    (probability) => (1 - uniformShare) * probability + uniformShare * uniform,
  );
  const peak = Math.max(...mixed);
  if (peak <= highestShare || mixed.length === 1) return mixed;
  const shrink = (1 - highestShare) / (1 - peak);
  return mixed.map((probability) => (probability === peak ? highestShare : probability * shrink));
}
