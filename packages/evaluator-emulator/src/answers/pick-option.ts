const wayOutPattern = /^(?:other|none|neither|unknown|unclear|unsure)(?:$|[^\p{L}])/iu;

/**
 * The likeliest option; among equals one that is a way out, such as `other` (contract section 1.6),
 * else the first.
 */
export function pickOption(options: readonly string[], probabilities: readonly number[]): string {
  const highest = Math.max(...probabilities);
  const likeliest = options.filter((_option, index) => probabilities[index] === highest);
  return likeliest.find((option) => wayOutPattern.test(option)) ?? likeliest[0] ?? "";
}
