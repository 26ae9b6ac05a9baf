import { type Shares, tierNames } from "../decision/tier-question.ts";

/** Columns of words and pairs of words; the others follow. */
const BUCKETS = 2 ** 14;

/** Columns: words and pairs, the length, and a probability for each tier. */
export const COLUMNS = BUCKETS + 1 + tierNames.length;

/** The columns of a prompt that are not 0, with their values. */
export type Features = readonly (readonly [column: number, value: number])[];

/** Returns the features of a message, in linear time; without a text, only probabilities count. */
export function toFeatures(text: string, probabilities: Shares | null): Features {
  const words = hashWords(text.slice(0, MOST_READ));
  const features = Array.from(words, (word): [number, number] => [word, 1 / Math.sqrt(words.size)]);
  if (text !== "") features.push([BUCKETS, Math.log(text.length) - USUAL_LENGTH]);
  if (probabilities === null) return features;
  const shares = tierNames.map((tier, at) => [BUCKETS + 1 + at, probabilities[tier]] as const);
  return [...features, ...shares];
}

/** Characters whose words count: 1,500 take 0.05 ms, which delays a decision. */
const MOST_READ = 1500;

/** The logarithm of about 150 characters. */
const USUAL_LENGTH = 5;

/** Returns the buckets of the words, and of each word with the one before it. */
function hashWords(text: string): Set<number> {
  // Any character beyond ASCII counts as a letter.
  const words = (text.toLowerCase().match(/[a-z0-9\u0080-\uffff]+/g) ?? []).map(toHash);
  const pairs = words.map((word, at) => Math.imul(words[at - 1] ?? 0, PRIME) ^ word);
  return new Set([...words, ...pairs].map((hash) => ((hash ^ (hash >>> 15)) >>> 0) % BUCKETS));
}

/** Of FNV-1a. */
const PRIME = 0x01000193;

function toHash(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at += 1) {
    hash = Math.imul(hash ^ word.charCodeAt(at), PRIME);
  }
  return hash;
}
