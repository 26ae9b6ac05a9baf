import type { TextProfile } from "./text-profile.ts";

const wordWeight = 0.7;
const conceptWeight = 1.5;

type Weighted = readonly (readonly [item: string, weight: number])[];

/**
 * Weighs criteria against each other and gives a function that says how strongly a state speaks for
 * each of them; 0 where nothing does. A word or concept weighs more the fewer criteria hold it, and
 * nothing when all do.
 */
export function matchCriteria(
  criteria: readonly TextProfile[],
): (state: TextProfile) => readonly number[] {
  const words = weigh(
    criteria.map((criterion) => [...criterion.words]),
    wordWeight,
  );
  const concepts = weigh(
    criteria.map((criterion) => [...criterion.concepts.keys()]),
    conceptWeight,
  );
  return (state) =>
    criteria.map((_criterion, index) => {
      let score = 0;
      for (const [word, weight] of words[index] ?? []) {
        if (state.words.has(word)) score += weight;
      }
      for (const [name, weight] of concepts[index] ?? []) {
        score += weight * conceptStrength(state, name);
      }
      return score;
    });
}

/** How clearly a state shows a concept: 0 for not at all, then growing ever more slowly. */
export function conceptStrength(state: TextProfile, name: string): number {
  return Math.log2(1 + (state.concepts.get(name) ?? 0));
}

function weigh(groups: readonly (readonly string[])[], weight: number): Weighted[] {
  const counts = new Map<string, number>();
  for (const item of groups.flat()) counts.set(item, (counts.get(item) ?? 0) + 1);
  const rarity = (item: string) => Math.log(groups.length / (counts.get(item) ?? groups.length));
  return groups.map((group) => group.map((item) => [item, weight * rarity(item)]));
}
