const uniformShare = 0.1;

// The highest probability the judge gives to one option or level.
const highestShare = 0.85;

/** Mixes a distribution with the uniform one and caps its peak; a stand-in is never sure. */
export function temper(probabilities: readonly number[]): number[] {
  const uniform = 1 / probabilities.length;
  const mixed = probabilities.map(
    (probability) => (1 - uniformShare) * probability + uniformShare * uniform,
  );
  const peak = Math.max(...mixed);
  if (peak <= highestShare || mixed.length === 1) return mixed;
  const shrink = (1 - highestShare) / (1 - peak);
  return mixed.map((probability) => (probability === peak ? highestShare : probability * shrink));
}
