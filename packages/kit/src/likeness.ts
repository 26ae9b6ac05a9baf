const COMPARED_LETTERS = 60;

/** Returns the share of letter pairs that two names have in common (Dice's coefficient), by their first 60 letters. */
export function likeness(firstName: string, secondName: string): number {
  const [firstPairs, secondPairs] = [listLetterPairs(firstName), listLetterPairs(secondName)];
  const sharedCount = firstPairs.filter((letterPair) => secondPairs.includes(letterPair)).length;
  return (2 * sharedCount) / (firstPairs.length + secondPairs.length);
}

function listLetterPairs(name: string): string[] {
  const paddedLetters = ` ${name.slice(0, COMPARED_LETTERS)} `;
  return Array.from(paddedLetters, (_, letterIndex) =>
    paddedLetters.slice(letterIndex, letterIndex + 2),
  );
}
