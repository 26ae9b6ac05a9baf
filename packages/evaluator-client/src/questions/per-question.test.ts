import { expect, test } from "vitest";
import { perQuestion } from "./per-question.ts";
import { boolean, choice, score } from "./question-builders.ts";
import type { Question } from "./question.ts";

/** How often something is worked out from a question that is asked twice. */
function timesWorkedOut(question: unknown): number {
  let times = 0;
  const workOut = perQuestion(() => (times += 1));
  workOut(question as Question);
  workOut(question as Question);
  return times;
}

const instructions = "sure?";

test.each<[string, unknown]>([
  ["a choice that was built", choice("which?", { a: "A" })],
  ["a score that was built", score("how much?", ["none", "all"])],
  ["a boolean that was built", boolean("sure?", { true: "yes" })],
  ["a frozen boolean without criteria", Object.freeze({ type: "boolean", instructions })],
])("keeps what it worked out for %s", (_, question) => {
  expect(timesWorkedOut(question)).toBe(1);
});

test.each<[string, unknown]>([
  ["a question that may change", { type: "boolean", instructions }],
  [
    "criteria that may change",
    Object.freeze({ type: "choice", instructions, criteria: { a: "A" } }),
  ],
  ["a frozen list", Object.freeze(["boolean"])],
  ["text", "boolean"],
  ["nothing", undefined],
])("works it out each time for %s", (_, question) => {
  expect(timesWorkedOut(question)).toBe(2);
});
