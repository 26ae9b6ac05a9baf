import table from "./phrases.json" with { type: "json" };
import { textWords } from "./words.ts";

/**
 * The concepts that the judge knows: the phrases by which an option or a question names the concept (a
 * state may contain them too), and the phrases by which only a state shows it.
 */
const concepts = Object.entries(table).map(([name, signs]) => {
  return { name, cues: name, signs: `${name}, ${signs}` };
});

/** Longest phrase of the table, in words. */
const longestPhrase = 3;

const phrasesByRole = { cues: indexPhrases("cues"), signs: indexPhrases("signs") };

/**
 * Returns the concepts of a text and how clearly it shows each; every further phrase adds less.
 *
 * @param role - `cues` for an option or a question, which name a concept; `signs` for a state.
 */
export function findConcepts(
  words: readonly string[],
  role: "cues" | "signs",
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const phrase of new Set(phrasesOf(words))) {
    for (const name of phrasesByRole[role].get(phrase) ?? []) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return new Map([...counts].map(([name, count]) => [name, Math.log2(1 + count)]));
}

function phrasesOf(words: readonly string[]): string[] {
  const lengths = Array.from({ length: longestPhrase }, (_, index) => index + 1);
  return words.flatMap((_, start) =>
    lengths.map((length) => words.slice(start, start + length).join(" ")),
  );
}

function indexPhrases(role: "cues" | "signs"): ReadonlyMap<string, ReadonlySet<string>> {
  const index = new Map<string, Set<string>>();
  for (const concept of concepts) {
    for (const phrase of concept[role].split(",")) {
      const key = textWords(phrase).join(" ");
      index.set(key, (index.get(key) ?? new Set()).add(concept.name));
    }
  }
  return index;
}
