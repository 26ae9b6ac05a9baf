const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const length = 26;

/**
 * A sequence of ids of 26 letters and digits; the same seed gives the same sequence.
 *
 * @param seed - A whole number.
 */
export function createIds(seed: number): () => string {
  const random = createRandom(seed);
  return () => {
    let id = "";
    while (id.length < length) id += alphabet[random() % alphabet.length];
    return id;
  };
}

/** The mulberry32 generator: whole numbers of 32 bits. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
