import { expect, test } from "vitest";
import { AnswerTable } from "./answer-table.ts";
import { LabelJoin } from "./join-labels.ts";

function joinOf(labels: readonly object[]): LabelJoin {
  const table = new AnswerTable();
  const answer = { id: "b", question: "scam", probability: 0.2, modelId: "m/one" };
  table.addRecord({ line: 1, value: answer }, "answers");
  const join = new LabelJoin(table);
  for (const [index, value] of labels.entries()) join.add({ line: index + 1, value }, "labels");
  return join;
}

test("a second labeler's row without columns keeps the weight, group and cluster, in any order", () => {
  const rows = [
    { id: "b", truth: 1, drawn: 0.1, group: "work", labeler: "ada" },
    { id: "b", truth: 1, labeler: "bob" },
  ];
  for (const order of [rows, rows.toReversed()]) {
    const join = joinOf(order);
    expect(join.columns[0]).toMatchObject({ weights: [10], groupOf: [0], clusterOf: [0] });
    expect(join.groups.list).toEqual(["work"]);
  }
  expect(() => joinOf([...rows, { id: "b", truth: 1, drawn: 0.3, labeler: "eve" }])).toThrow(
    'labels line 3: record "b" has the weight 3.33333, earlier 10; correct one, or use --last',
  );
});

test("a weight beside drawn is its inverse, or the label is refused", () => {
  const label = { id: "b", truth: 1, drawn: 0.3 };
  expect(joinOf([{ ...label, weight: 3.333 }]).columns[0]?.weights).toEqual([1 / 0.3]);
  expect(() => joinOf([{ ...label, weight: 2 }])).toThrow(
    "labels line 1: has the weight 2, and drawn gives it 3.33333; leave one empty",
  );
});

test("a probability may be a text, as a CSV file holds it", () => {
  const table = new AnswerTable();
  const answer = { id: "b", question: "scam", probability: " 0.25" };
  table.addRecord({ line: 1, value: answer }, "answers");
  expect(table.columns[0]?.values).toEqual(new Float64Array([0.25]));
  const wrong = { id: "c", question: "scam", probability: "high" };
  expect(() => table.addRecord({ line: 2, value: wrong }, "answers")).toThrow(
    'probability of "scam" is "high"; it must be a number from 0 to 1',
  );
});
