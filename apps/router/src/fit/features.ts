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

/** Characters whose words count: 20,000 take 0.65 ms, which delays a decision. */
const MOST_READ = 1500;

/** The logarithm of about 150 characters. */
const USUAL_LENGTH = 5;

const EMPTY = 0x811c9dc5;

/** Returns the buckets of the words, and of each word with the one before it (FNV-1a). */
function hashWords(text: string): Set<number> {
  const buckets = new Set<number>();
  let [word, before] = [EMPTY, 0];
  const endWord = () => {
    if (word === EMPTY) return;
    buckets.add(toBucket(word));
    buckets.add(toBucket(Math.imul(before, 31) ^ word));
    [word, before] = [EMPTY, word];
  };
  const lower = text.toLowerCase();
  for (let at = 0; at < lower.length; at += 1) {
    const code = lower.charCodeAt(at);
    if (isWordPart(code)) word = Math.imul(word ^ code, 0x01000193);
    else endWord();
  }
  endWord();
  return buckets;
}

/** Letters and digits; any character beyond ASCII counts as a letter. */
function isWordPart(code: number): boolean {
  return code > 127 || (code > 96 && code < 123) || (code > 47 && code < 58);
}

function toBucket(hash: number): number {
  return ((hash ^ (hash >>> 15)) >>> 0) % BUCKETS;
}
