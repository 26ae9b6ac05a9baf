import { expect, test } from "vitest";
import { AnswerTable } from "./answer-table.ts";

function tableOf(value: object) {
  const table = new AnswerTable();
  table.addRecord({ line: 1, value }, "answers");
  return table;
}

test("an answer whose type is no kind is an error, and one that is not scored is no answer", () => {
  const answer = (id: string, one: object) => ({ id, answers: { tier: one } });
  const probabilities = { a: 0.5, b: 0.5 };
  expect(() => tableOf(answer("1", { type: "ranking", probability: 0.5 }))).toThrow(
    'There is no kind "ranking"',
  );
  expect(() => tableOf(answer("1", { type: "ranking", probabilities }))).toThrow(
    'answers line 1: the answer to "tier" has a wrong type. There is no kind "ranking"; use boolean, choice, score, box',
  );
  const box = { type: "box", box: { top: 0, left: 0, bottom: 1, right: 1 }, confidence: 0.5 };
  expect(tableOf(answer("1", box)).columns).toEqual([]);
  // The type of a line is that of its record.
  const line = { id: "1", question: "tier", type: "invoice", probabilities };
  expect(tableOf(line).columns.map(({ kind }) => kind)).toEqual(["choice"]);
});

test("an id that is an object is named as a wrong field, whatever its own fields are", () => {
  const record = { id: { toString: 1 }, answers: { spam: { probability: 0.5 } } };
  expect(() => tableOf(record)).toThrow("answers line 1: id ");
});
