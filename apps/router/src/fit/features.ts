import { type Shares, tierNames } from "../decision/tier-question.ts";

/** Columns of words and pairs of words; the others follow. */
const BUCKETS = 2 ** 14;

/** Columns: words and pairs, the length, and a probability for each tier. */
export const COLUMNS = BUCKETS + 1 + tierNames.length;

/** The columns of a prompt that are not 0, with their values. */
export type Features = readonly (readonly [column: number, value: number])[];

/** Returns the features of a message, in linear time; without a text, only probabilities count. */
export function toFeatures(promptText: string, probabilities: Shares | null): Features {
  const words = hashWords(promptText.slice(0, MOST_READ));
  const features = Array.from(words, (word): [number, number] => [word, 1 / Math.sqrt(words.size)]);
  if (promptText !== "") features.push([BUCKETS, Math.log(promptText.length) - USUAL_LENGTH]);
  if (probabilities === null) return features;
  const shares = tierNames.map((tier, at) => [BUCKETS + 1 + at, probabilities[tier]] as const);
  return [...features, ...shares];
}

/** Characters whose words count: 1,500 take 0.05 ms, which delays a decision. */
const MOST_READ = 1500;

/** The logarithm of about 150 characters. */
const USUAL_LENGTH = 5;

/** Returns the buckets of the words, and of each word with the one before it. */
function hashWords(wordsText: string): Set<number> {
  // Any character beyond ASCII counts as a letter.
  const wordHashes = (wordsText.toLowerCase().match(/[a-z0-9\u0080-\uffff]+/g) ?? []).map(toHash);
  const pairs = wordHashes.map((word, at) => Math.imul(wordHashes[at - 1] ?? 0, PRIME) ^ word);
  return new Set([...wordHashes, ...pairs].map((hash) => ((hash ^ (hash >>> 15)) >>> 0) % BUCKETS));
}

/** Of FNV-1a. */
const PRIME = 0x01000193;

function toHash(word: string): number {
  let wordHash = 0x811c9dc5;
  for (let letterIndex = 0; letterIndex < word.length; letterIndex += 1) {
    wordHash = Math.imul(wordHash ^ word.charCodeAt(letterIndex), PRIME);
  }
  return wordHash;
}
