const LONGEST = 60;

/** Returns the share of letter pairs that two names have in common (Dice's coefficient), by their first 60 letters. */
export function likeness(one: string, other: string): number {
  const [pairs, otherPairs] = [letterPairs(one), letterPairs(other)];
  const sharedCount = pairs.filter((pair) => otherPairs.includes(pair)).length;
  return (2 * sharedCount) / (pairs.length + otherPairs.length);
}

function letterPairs(name: string): string[] {
  const letters = ` ${name.slice(0, LONGEST)} `;
  return Array.from(letters, (_, at) => letters.slice(at, at + 2));
}
