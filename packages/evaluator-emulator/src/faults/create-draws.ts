import { hash } from "node:crypto";

const remembered = 100_000;

/**
 * Numbers from 0 up to 1 that depend on the seed, the text and how often the text came before; so
 * the same requests draw the same numbers in whatever order they arrive.
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
