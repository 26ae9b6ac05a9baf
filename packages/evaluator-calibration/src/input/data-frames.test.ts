import { expect, test } from "vitest";
import { AnswerTable } from "./answer-table.ts";
import { LabelJoin } from "./join-labels.ts";

const answers = [
  ...["a", "b", "c"].map((id) => ({ id, question: "scam", probability: 0.5 })),
  { id: "a", question: "level", probabilities: { "0": 0.5, "1": 0.5 } },
  { id: "a", question: "version", probabilities: { "1": 0.5, "1.0": 0.5 } },
];

// pandas 3.1.1: read_csv and to_csv of "id,question,truth,skipped" with truths 1 and 0, and a skip 1.
const labels = [
  { id: "a", question: "scam", truth: "1.0", skipped: "" },
  { id: "b", question: "scam", truth: "0.0", skipped: "" },
  { id: "c", question: "scam", truth: "", skipped: "1.0" },
  { id: "a", question: "level", truth: "1.0", skipped: "" },
  { id: "a", question: "version", truth: "1.0", skipped: "" },
];

test("whole numbers of a column with gaps are truths, levels and skips", () => {
  const table = new AnswerTable({});
  for (const [at, value] of answers.entries()) table.addRecord({ line: at + 1, value }, "answers");
  const join = new LabelJoin(table, {});
  for (const [at, value] of labels.entries()) join.add({ line: at + 1, value }, "labels");
  expect(join.columns.map(({ truth }) => truth)).toEqual([[1, 0, -1], [1], [1]]);
  expect(join.countsOf("scam").skipped).toBe(1);
});
