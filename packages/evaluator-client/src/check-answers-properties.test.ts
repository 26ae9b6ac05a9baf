import * as fc from "fast-check";
import { expect, test } from "vitest";
import { InvalidResponseError } from "./errors.ts";
import { anyName, type Asked, honestAnswers } from "./testing/honest-answers.ts";
import { checkAnswers } from "./check-answers.ts";
import { checkDistribution } from "./questions/json.ts";

const rounding = { probabilityDecimals: 2, scoreDecimals: 2 };
const HALF_A_UNIT = 0.005;
const JUST_MORE = 0.0001;
/** Checks that an answer cannot be wrong in a certain way. */
const notApplicable = Symbol("not applicable");

type Entries = readonly (readonly [string, unknown])[];

/** Returns the error of the check, or undefined if it accepts the answers. */
function check(asked: readonly (readonly [string, Asked])[], answers: Entries): unknown {
  // Object.fromEntries keeps an id such as __proto__ as data.
  const questions = Object.fromEntries(asked.map(([id, { question }]) => [id, question]));
  try {
    return checkAnswers({ questions, answers: Object.fromEntries(answers), rounding });
  } catch (error) {
    return error;
  }
}

function answersTo(asked: readonly (readonly [string, Asked])[]): Entries {
  return asked.map(([id, { answer }]) => [id, answer]);
}

test("whatever an honest server prints after rounding is accepted", () => {
  const property = fc.property(honestAnswers, (asked) => {
    expect(check(asked, answersTo(asked))).toBeUndefined();
  });
  fc.assert(property, { numRuns: 1000 });
});

test("a missing answer is rejected with the question's id", () => {
  const property = fc.property(honestAnswers, (asked) => {
    const error = check(asked, answersTo(asked.slice(1)));
    expect(error).toMatchObject({ rule: "answer-ids", questionId: asked[0]?.[0] });
  });
  fc.assert(property);
});

test("an answer to no question is rejected with its id", () => {
  const property = fc.property(honestAnswers, anyName, (asked, extra) => {
    fc.pre(asked.every(([id]) => id !== extra));
    const error = check(asked, [...answersTo(asked), [extra, { type: "boolean", probability: 1 }]]);
    expect(error).toMatchObject({ rule: "answer-ids", questionId: extra });
  });
  fc.assert(property);
});

type Corruption = (asked: Asked, more: string) => unknown;

const corruptions: Record<string, Corruption> = {
  "an answer that is null": () => null,
  "an answer that is a list": ({ answer }) => [answer],
  "an answer of another type": ({ answer }) =>
    changed(answer, { type: answer["type"] === "score" ? "choice" : "score" }),
  "an answer without a type": ({ answer }) => changed(answer, { type: undefined }),
  "a missing option": onEntries((entries) => entries.slice(1)),
  "an extra option": onEntries((entries, more) => [...entries, [more, 0]]),
  "another option instead": onEntries((entries, more) => [
    ...entries.slice(1),
    [more, entries[0]?.[1]],
  ]),
  "an option as a list": ({ answer }) =>
    onlyIf("probabilities" in answer, changed(answer, { probabilities: [1] })),
  "a sum that is too low": onEntries((entries) => scaled(entries, -1)),
  "a sum that is too high": onEntries((entries) => scaled(entries, 1)),
  "a choice that was not offered": ({ answer }, more) =>
    onlyIf(answer["type"] === "choice", changed(answer, { choice: more })),
  "a choice that another beats": swapped,
  "a score off the mean": ({ answer, question }) => {
    if (question.type !== "score") return notApplicable;
    const levels = question.criteria.length;
    const slack = ((levels * (levels - 1)) / 2 + 1) * HALF_A_UNIT;
    return changed(answer, { score: Number(answer["score"]) + 2 * slack + JUST_MORE });
  },
  "a score below the first level": ({ answer }) =>
    onlyIf(answer["type"] === "score", changed(answer, { score: -0.01 })),
  "a score as text": ({ answer }) =>
    onlyIf(answer["type"] === "score", changed(answer, { score: String(answer["score"]) })),
};

for (const wrong of [Number.NaN, JSON.parse("1e999"), -0.01, 1.01, "1", null, undefined, true]) {
  const inOptions = onEntries(([[name] = [""], ...rest]) => [[name, wrong], ...rest]);
  corruptions[`a probability of ${typeof wrong} ${String(wrong)}`] = (asked, more) =>
    asked.question.type === "boolean"
      ? changed(asked.answer, { probability: wrong })
      : inOptions(asked, more);
}

test.each(Object.entries(corruptions))("%s is rejected with the question's id", (_, corrupt) => {
  const property = fc.property(honestAnswers, fc.nat(), anyName, (asked, index, name) => {
    const [id, honest] = pick(asked, index);
    const corrupted = corrupt(honest, `more ${name}`);
    fc.pre(corrupted !== notApplicable);
    const answers = answersTo(asked).filter(([other]) => other !== id);
    const error = check(asked, [...answers, [id, corrupted]]);
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error).toMatchObject({ questionId: id });
  });
  fc.assert(property);
});

/** Printed numbers near the edges of what a distribution can print, with their decimals. */
const printedNumbers = fc
  .record({
    decimals: fc.nat(4),
    weights: fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0.001, max: 1, noNaN: true })), {
      minLength: 1,
      maxLength: 255,
    }),
    // How far the sum is from 1, in the most that rounding explains.
    offset: fc.double({ min: -2, max: 2, noNaN: true }),
  })
  .map(({ decimals, weights, offset }) => {
    const unit = 10 ** decimals;
    const all = weights.reduce((total, weight) => total + weight, 0) || 1;
    const sum = 1 + (offset * weights.length) / 2 / unit;
    const printed = weights.map((weight) => Math.round((weight / all) * sum * unit) / unit);
    return { decimals, printed: printed.map((value) => Math.min(1, Math.max(0, value))) };
  });

test("exactly those numbers are accepted that some distribution prints so", () => {
  const verdicts = { true: 0, false: 0 };
  const property = fc.property(printedNumbers, ({ decimals, printed }) => {
    const error = 0.5 * 10 ** -decimals;
    const least = printed.reduce((sum, value) => sum + Math.max(0, value - error), 0);
    const most = printed.reduce((sum, value) => sum + Math.min(1, value + error), 0);
    const isPossible = least <= 1 + 1e-6 && most >= 1 - 1e-6;
    const keys = Object.keys(printed);
    const decided = checkDistribution(keys, Object.fromEntries(printed.entries()), {
      probabilityDecimals: decimals,
    });
    expect(typeof decided === "number").toBe(isPossible);
    verdicts[`${isPossible}`] += 1;
  });
  fc.assert(property, { numRuns: 2000 });
  expect(Math.min(verdicts.true, verdicts.false)).toBeGreaterThan(200);
});

function pick<TItem>(items: readonly TItem[], index: number): TItem {
  return items[index % items.length] as TItem;
}

function changed(answer: object, change: object): object {
  return { ...answer, ...change };
}

function onlyIf(applies: boolean, corrupted: unknown): unknown {
  return applies ? corrupted : notApplicable;
}

function onEntries(
  change: (entries: [string, number][], more: string) => Entries | null,
): Corruption {
  return ({ answer }, more) => {
    if (!("probabilities" in answer)) return notApplicable;
    const entries = Object.entries(answer["probabilities"] as Record<string, number>);
    const probabilities = change(entries, more);
    return probabilities === null
      ? notApplicable
      : changed(answer, { probabilities: Object.fromEntries(probabilities) });
  };
}

/** Probabilities in the same proportions whose sum is just further from 1 than rounding explains. */
function scaled(entries: [string, number][], direction: -1 | 1): Entries | null {
  const sum = entries.reduce((total, [, probability]) => total + probability, 0);
  const wanted = 1 + direction * (entries.length * HALF_A_UNIT + JUST_MORE);
  if (sum === 0 || wanted < 0) return null;
  return entries.map(([name, probability]) => [name, (probability / sum) * wanted]);
}

/** Picks the least probable option, unless rounding could explain that. */
function swapped({ answer }: Asked): unknown {
  if (answer["type"] !== "choice") return notApplicable;
  const entries = Object.entries(answer["probabilities"] as Record<string, number>);
  const [lowest = ["", 0], ...others] = entries.toSorted(([, a], [, b]) => a - b);
  const highest = others.at(-1) ?? lowest;
  const isBeaten = highest[1] - lowest[1] > 2 * HALF_A_UNIT + JUST_MORE;
  return onlyIf(isBeaten, changed(answer, { choice: lowest[0] }));
}
