import { stopWords, textWords } from "./words.ts";
import table from "./phrases.json" with { type: "json" };

/** The judge's answer to one question, before rounding. */
export interface Opinion {
  /** One probability for each option or level in order; for a yes/no question, that of yes. */
  readonly probabilities: readonly number[];
  /** Whether any word of the state spoke for an answer. */
  readonly isInformed: boolean;
}

/** A text as the judge sees it. */
export interface TextProfile {
  /** Stems of the words that carry meaning. */
  readonly words: ReadonlySet<string>;
  /** Concept name to how clearly the text shows it, above 0. */
  readonly concepts: ReadonlyMap<string, number>;
}

/** Returns the profile of a state, or of an option, a level or a question without its denied parts. */
export function profileText(profiledText: string, role: "state" | "criterion"): TextProfile {
  const words = textWords(role === "state" ? profiledText : dropNegated(profiledText));
  return {
    words: new Set(words.filter((word) => !stopWords.has(word))),
    concepts: findConcepts(words, role === "state" ? "signs" : "cues"),
  };
}

const clausePattern = /[^,.;:()]+/g;
const negationPattern = /\b(?:no|not|none|never|without)\b.*$/is;

/** Removes denied parts: "short task, no deep reasoning" keeps "short task". */
function dropNegated(profiledText: string): string {
  if (!negationPattern.test(profiledText)) return profiledText;
  const clauses = profiledText.match(clausePattern) ?? [];
  return clauses.map((clause) => clause.replace(negationPattern, "")).join(", ");
}

// Chosen: a concept counts about twice a word. judge.test.ts holds at half and twice each of them.
const wordWeight = 0.7;
const conceptWeight = 1.5;

/**
 * Returns how strongly a state supports each criterion. A word or concept weighs more the fewer
 * criteria contain it, and nothing if all do.
 */
export function matchCriteria(
  criteria: readonly TextProfile[],
  stateProfile: TextProfile,
): number[] {
  const weightOfWord = weigh(criteria.map(({ words }) => words));
  const weightOfConcept = weigh(criteria.map(({ concepts }) => concepts));
  return criteria.map(({ words, concepts }) => {
    let score = 0;
    for (const word of words) {
      if (stateProfile.words.has(word)) score += wordWeight * weightOfWord(word);
    }
    for (const name of concepts.keys()) {
      score += conceptWeight * weightOfConcept(name) * (stateProfile.concepts.get(name) ?? 0);
    }
    return score;
  });
}

function weigh(groups: readonly { keys(): Iterable<string> }[]): (listItem: string) => number {
  const counts = new Map<string, number>();
  for (const group of groups) {
    for (const listItem of group.keys()) counts.set(listItem, (counts.get(listItem) ?? 0) + 1);
  }
  return (listItem) => Math.log(groups.length / (counts.get(listItem) ?? groups.length));
}

/** Returns an opinion from the score of each criterion; uniform if all scores are equal. */
export function opinionFromScores(scores: readonly number[]): Opinion {
  const isInformed = scores.some((score) => score !== scores[0]);
  return {
    probabilities: isInformed ? temper(softmax(scores)) : scores.map(() => 1 / scores.length),
    isInformed,
  };
}

function softmax(scores: readonly number[]): number[] {
  const highest = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(score - highest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

// Chosen: no option is ever ruled out. At twice it no choice of seven reaches the highest share.
const uniformShare = 0.1;

// The highest probability of one option or level. Chosen, so that it is not mistaken for a model's.
const highestShare = 0.85;

/** Mixes a distribution with the uniform one and caps its peak. */
function temper(probabilities: readonly number[]): number[] {
  const uniform = 1 / probabilities.length;
  const mixedValues = probabilities.map(
    (probability) => (1 - uniformShare) * probability + uniformShare * uniform,
  );
  const peak = Math.max(...mixedValues);
  if (peak <= highestShare || mixedValues.length === 1) return mixedValues;
  const shrink = (1 - highestShare) / (1 - peak);
  return mixedValues.map((probability) =>
    probability === peak ? highestShare : probability * shrink,
  );
}

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
function findConcepts(
  words: readonly string[],
  role: "cues" | "signs",
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const phrase of new Set(listPhrases(words))) {
    for (const name of phrasesByRole[role].get(phrase) ?? []) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return new Map([...counts].map(([name, count]) => [name, Math.log2(1 + count)]));
}

function listPhrases(words: readonly string[]): string[] {
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
