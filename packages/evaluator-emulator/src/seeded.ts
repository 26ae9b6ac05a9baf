import { hash } from "node:crypto";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const length = 26;

/**
 * Returns a sequence of ids of 26 letters and digits, drawn by the generator mulberry32; the same
 * seed gives the same sequence.
 *
 * @param seed - A whole number.
 */
export function createIds(seed: number): () => string {
  let state = seed >>> 0;
  const draw = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return () => Array.from({ length }, () => alphabet[draw() % alphabet.length]).join("");
}

// Chosen, not measured: more texts than a test sends, and few enough to keep.
const remembered = 100_000;

/**
 * Returns numbers from 0 up to 1 that depend on the seed, the text and how often the text came
 * before; so the same requests draw the same numbers in whatever order they arrive.
 */
export function createDraws(seed: string): (text: string) => number {
  const turns = new Map<string, number>();
  return (text) => {
    const digest = hash("sha256", text);
    const turn = (turns.get(digest) ?? 0) + 1;
    if (turns.size >= remembered) turns.clear();
    turns.set(digest, turn);
    return hash("sha256", `${seed}/${turn}/${digest}`, "buffer").readUInt32BE() / 2 ** 32;
  };
}
