/**
 * Returns a function that draws numbers from 0 up to 1 by the generator mulberry32; the same seed draws
 * the same numbers.
 *
 * @param seed - A whole number.
 */
export function seededRandom(seed: number): () => number {
  let generatorState = seed >>> 0;
  return () => {
    generatorState = (generatorState + 0x6d2b79f5) >>> 0;
    let mixedBits = Math.imul(generatorState ^ (generatorState >>> 15), generatorState | 1);
    mixedBits ^= mixedBits + Math.imul(mixedBits ^ (mixedBits >>> 7), mixedBits | 61);
    return ((mixedBits ^ (mixedBits >>> 14)) >>> 0) / 2 ** 32;
  };
}
