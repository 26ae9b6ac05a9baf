import * as fc from "fast-check";
import { type Question, boolean, choice, score } from "../questions/kinds.ts";

/** A question and an answer to it. */
export interface Asked {
  readonly question: Question;
  readonly answer: Readonly<Record<string, unknown>>;
}

// Not `unit: "binary"`, which takes two seconds to make ready.
const anyCharacter = fc
  .nat(0x10ffff)
  .filter((point) => point < 0xd800 || point > 0xdfff)
  .map((point) => String.fromCodePoint(point));

/** Names of ids and options: ordinary ones, and those that other code trips over. */
export const anyName = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", "", "0", "-0", "1e3"),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: anyCharacter, maxLength: 4 }),
);

const anyWeight = fc.oneof(
  fc.constantFrom(0, 1, 1e-9, 1e6),
  fc.double({ min: 0, max: 1, noNaN: true }),
);

/** Exact probabilities for options or levels: flat, peaked, some of them zero. */
function toDistribution(weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => (total === 0 ? 1 / weights.length : weight / total));
}

const someOptions = fc.uniqueArray(fc.tuple(anyName, anyWeight), {
  minLength: 1,
  maxLength: 40,
  selector: ([name]) => name,
});

const choices = someOptions.map((weighed): Asked => {
  const names = weighed.map(([name]) => name);
  const exact = toDistribution(weighed.map(([, weight]) => weight));
  const picked = names[exact.indexOf(Math.max(...exact))];
  const options = names.map((name): [string, string] => [name, "this one"]);
  const printed = names.map((name, index) => [name, round(exact[index] ?? 0)]);
  const probabilities: unknown = Object.fromEntries(printed);
  return {
    question: choice("which?", Object.fromEntries(options)),
    answer: { type: "choice", choice: picked, probabilities },
  };
});

const scores = fc.array(anyWeight, { minLength: 1, maxLength: 10 }).map((weights): Asked => {
  const exact = toDistribution(weights);
  const mean = exact.reduce((sum, probability, index) => sum + probability * index, 0);
  const printed = exact.map((probability, index) => [String(index), round(probability)]);
  const probabilities: unknown = Object.fromEntries(printed);
  return {
    question: score(
      "how much?",
      exact.map((_, index) => `level ${index}`),
    ),
    answer: { type: "score", score: round(mean), probabilities },
  };
});

const booleans = fc.double({ min: 0, max: 1, noNaN: true }).map((exact): Asked => {
  return { question: boolean("sure?"), answer: { type: "boolean", probability: round(exact) } };
});

/** Questions by id, each with the answer that an honest server prints, rounded to 2 decimals. */
export const honestAnswers = fc.uniqueArray(
  fc.tuple(anyName, fc.oneof(choices, scores, booleans)),
  { minLength: 1, maxLength: 6, selector: ([id]) => id },
);

function round(value: number): number {
  return Number(value.toFixed(2));
}
