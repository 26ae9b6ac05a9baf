import type { TextProfile } from "./text-profile.ts";

const wordWeight = 0.7;
const conceptWeight = 1.5;

/**
 * How strongly a state speaks for each criterion; 0 where nothing does.
 * A word or concept weighs more the fewer criteria hold it, and nothing when all do.
 */
export function matchCriteria(
  state: TextProfile,
  criteria: readonly TextProfile[],
): readonly number[] {
  const rarityOfWord = rarityAmong(criteria.map((criterion) => [...criterion.words]));
  const rarityOfConcept = rarityAmong(criteria.map((criterion) => [...criterion.concepts.keys()]));
  return criteria.map((criterion) => {
    const words = [...criterion.words].filter((word) => state.words.has(word));
    const concepts = [...criterion.concepts.keys()];
    return (
      sum(words.map((word) => wordWeight * rarityOfWord(word))) +
      sum(
        concepts.map(
          (name) => conceptWeight * rarityOfConcept(name) * conceptStrength(state, name),
        ),
      )
    );
  });
}

/** How clearly a state shows a concept: 0 for not at all, then growing ever more slowly. */
export function conceptStrength(state: TextProfile, name: string): number {
  return Math.log2(1 + (state.concepts.get(name) ?? 0));
}

function rarityAmong(groups: readonly (readonly string[])[]): (item: string) => number {
  const counts = new Map<string, number>();
  for (const item of groups.flat()) counts.set(item, (counts.get(item) ?? 0) + 1);
  return (item) => Math.log(groups.length / (counts.get(item) ?? groups.length));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
