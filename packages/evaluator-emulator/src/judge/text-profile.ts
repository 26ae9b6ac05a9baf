import { findConcepts } from "./concept-index.ts";
import { dropNegated } from "./drop-negated.ts";
import { stopWords } from "./stop-words.ts";
import { textWords } from "./text-words.ts";

/** What the judge sees of a text. */
export interface TextProfile {
  /** Stems of the words that carry meaning. */
  readonly words: ReadonlySet<string>;
  /** Concept name to the number of different phrases that show it. */
  readonly concepts: ReadonlyMap<string, number>;
}

/** The profile of a state. */
export function profileState(text: string): TextProfile {
  return profile(textWords(text), "signs");
}

/** The profile of an option, a level or a question: what it asks for, without what it denies. */
export function profileCriterion(text: string): TextProfile {
  return profile(textWords(dropNegated(text)), "cues");
}

function profile(words: readonly string[], role: "cues" | "signs"): TextProfile {
  return {
    words: new Set(words.filter((word) => !stopWords.has(word))),
    concepts: findConcepts(words, role),
  };
}
