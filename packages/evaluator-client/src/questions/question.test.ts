import { expect, test } from "vitest";
import { boolean, choice, score } from "./kinds.ts";

test("later changes of the criteria do not change a built question", () => {
  const options: Record<string, string> = { a: "A" };
  const levels = ["none"];
  const meaning = { true: "yes" };
  const built = [choice("which?", options), score("how much?", levels), boolean("sure?", meaning)];
  options["b"] = "B";
  levels.push("all");
  meaning.true = "perhaps";
  expect(built).toEqual([
    { type: "choice", instructions: "which?", criteria: { a: "A" } },
    { type: "score", instructions: "how much?", criteria: ["none"] },
    { type: "boolean", instructions: "sure?", criteria: { true: "yes" } },
  ]);
  expect(built.every((question) => Object.isFrozen(question))).toBe(true);
});

test("leaves wrong criteria to the check of the request", () => {
  expect(choice("which?", "abc" as never).criteria).toBe("abc");
  expect(score("how much?", null as never).criteria).toBeNull();
});

test("keeps an option named __proto__", () => {
  const options = JSON.parse('{"__proto__":"a name like any other"}');
  expect(Object.keys(choice("which?", options).criteria)).toEqual(["__proto__"]);
});
