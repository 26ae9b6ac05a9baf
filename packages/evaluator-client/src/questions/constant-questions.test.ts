import { expect, test } from "vitest";
import { perQuestions, requestParser } from "./request.ts";
import { boolean, choice, type Questions } from "./kinds.ts";

const parse = requestParser();

/** Asks the questions as a call does, and returns the questions that it sends. */
function ask(questions: Questions): Questions {
  return parse({ state: "text", questions }).questions;
}

function changeable() {
  const category = {
    type: "choice" as const,
    instructions: "which?",
    criteria: { a: "A", b: "B" },
  };
  const importance = { type: "score" as const, instructions: "how much?", criteria: ["no", "yes"] };
  return { category, importance };
}

test.each<[string, Questions]>([
  ["built", { scam: boolean("scam?"), category: choice("which?", { a: "A" }) }],
  ["written by hand", changeable()],
])(
  "gives the same frozen copy from the second time on for questions that are %s",
  (_, questions) => {
    const first = ask(questions);
    const copy = ask(questions);
    for (const each of [first, copy]) {
      expect(each).not.toBe(questions);
      expect(each).toEqual(questions);
      expect(Object.isFrozen(each)).toBe(true);
    }
    expect(copy).not.toBe(first);
    expect(ask(questions)).toBe(copy);
  },
);

test("gives back questions that the caller froze", () => {
  const frozen = Object.freeze({ scam: boolean("scam?") });
  let times = 0;
  const workOut = perQuestions(() => ({ times: (times += 1) }));
  for (let asked = 0; asked < 5; asked += 1) {
    expect(ask(frozen)).toBe(frozen);
    workOut(frozen);
  }
  expect(times).toBe(2);
});

type Changeable = ReturnType<typeof changeable> & Record<string, unknown>;

test.each<[string, (questions: Changeable) => void]>([
  ["a question is added", (questions) => (questions["scam"] = boolean("scam?"))],
  ["a question is gone", (questions) => delete (questions as Partial<Changeable>).importance],
  ["a question is another", (questions) => (questions["category"] = boolean("a?") as never)],
  ["its words are others", ({ category }) => (category.instructions = "what?")],
  ["a description is another", ({ category }) => (category.criteria.a = "another")],
  [
    "an option has another name",
    ({ category }) => (category.criteria = { a: "A", c: "B" } as never),
  ],
  ["the options are in another order", ({ category }) => (category.criteria = { b: "B", a: "A" })],
  ["a level is added", ({ importance }) => importance.criteria.push("very")],
])("sees that %s", (_, change) => {
  const questions = changeable() as Changeable;
  for (let asked = 0; asked < 3; asked += 1) ask(questions as Questions);
  change(questions);
  const copy = ask(questions as Questions);
  expect(copy).toEqual(questions);
  expect(JSON.stringify(copy)).toBe(JSON.stringify(questions));
  expect(copy).not.toBe(questions);
  // Asked again, the changed ones are constant as well.
  expect(ask(questions as Questions)).toBe(copy);
});

test("sees that a question is nothing", () => {
  const questions = changeable();
  for (let asked = 0; asked < 3; asked += 1) ask(questions);
  questions.category = null as never;
  expect(() => ask(questions)).toThrow('The question "category" is not a choice');
});

test("computes a value once for constant questions, and each time for others", () => {
  let times = 0;
  const workOut = perQuestions(() => ({ times: (times += 1) }));
  const questions = changeable();
  for (let asked = 0; asked < 5; asked += 1) workOut(ask(questions));
  expect(times).toBe(2);
});
