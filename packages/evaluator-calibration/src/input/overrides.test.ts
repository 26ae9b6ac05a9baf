import { expect, test } from "vitest";
import { AnswerTable } from "./answer-table.ts";
import { LabelJoin } from "./join-labels.ts";

test("a label that corrects an answer is counted and left out, beside a random check of the same record", () => {
  const table = new AnswerTable();
  const answer = { id: "a", question: "scam", probability: 0.1, modelId: "m/one" };
  table.addRecord({ line: 1, value: answer }, "answers");
  const join = new LabelJoin(table);
  const label = { id: "a", question: "scam", truth: true, labeler: "person" };
  join.add({ line: 1, value: { ...label, origin: "override" } }, "labels");
  join.add({ line: 2, value: { ...label, truth: false, origin: "spot-check" } }, "labels");
  expect(join.overrides).toBe(1);
  expect(join.columns.map(({ truth }) => truth)).toEqual([[0]]);
  expect(join.countsOf("scam")).toMatchObject({ labelled: 1, repeated: 0 });
});
