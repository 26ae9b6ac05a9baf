import { concepts } from "./concepts.ts";
import { textWords } from "./text-words.ts";

/** Longest phrase of the concept list, in words. */
const longestPhrase = 3;

const phrasesByRole = {
  cues: indexPhrases((concept) => concept.cues),
  signs: indexPhrases((concept) => [...concept.cues, ...concept.signs]),
};

/** The words that phrases of several words start with. */
const phraseStarts = new Set(
  [...phrasesByRole.signs.keys()]
    .map((phrase) => phrase.split(" "))
    .filter((words) => words.length > 1)
    .map(([first]) => first),
);

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

function phrasesOf(words: readonly string[]): string[] {
  const phrases: string[] = [];
  for (const [start, word] of words.entries()) {
    let phrase = word;
    phrases.push(phrase);
    if (!phraseStarts.has(word)) continue;
    for (const next of words.slice(start + 1, start + longestPhrase)) {
      phrase += ` ${next}`;
      phrases.push(phrase);
    }
  }
  return phrases;
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
