import { concepts } from "./concepts.ts";
import { textWords } from "./text-words.ts";

/** Longest phrase of the concept list, in words. */
const longestPhrase = 3;

const phrasesByRole = {
  cues: indexPhrases((concept) => concept.cues),
  signs: indexPhrases((concept) => [...concept.cues, ...concept.signs]),
};

/**
 * The concepts a text holds, each with the number of different phrases that show it.
 *
 * @param role - `cues` for an option or a question, which name a concept; `signs` for a state.
 */
export function findConcepts(
  words: readonly string[],
  role: keyof typeof phrasesByRole,
): ReadonlyMap<string, number> {
  const found = new Map<string, Set<string>>();
  for (const phrase of phrasesOf(words)) {
    for (const name of phrasesByRole[role].get(phrase) ?? []) {
      found.set(name, (found.get(name) ?? new Set()).add(phrase));
    }
  }
  return new Map([...found].map(([name, phrases]) => [name, phrases.size]));
}

function* phrasesOf(words: readonly string[]): Generator<string> {
  for (let start = 0; start < words.length; start += 1) {
    for (let length = 1; length <= longestPhrase; length += 1) {
      if (start + length <= words.length) yield words.slice(start, start + length).join(" ");
    }
  }
}

function indexPhrases(phrasesOfConcept: (concept: (typeof concepts)[number]) => readonly string[]) {
  const index = new Map<string, Set<string>>();
  for (const concept of concepts) {
    for (const phrase of phrasesOfConcept(concept)) {
      const key = textWords(phrase).join(" ");
      index.set(key, (index.get(key) ?? new Set()).add(concept.name));
    }
  }
  return index;
}
