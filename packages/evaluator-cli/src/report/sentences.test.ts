import {
  AnswerTable,
  LabelJoin,
  type QuestionReport,
  reportQuestions,
  toLabelledRows,
} from "evaluator-calibration/reports";
import { expect, test } from "vitest";
import { summarize } from "./sentences.ts";

/** Returns the report of n records whose truth follows `trueAt` of what is printed, without chance. */
function reportOf(
  n: number,
  trueAt: (p: number) => number,
  printed = (share: number) => share,
): QuestionReport {
  const table = new AnswerTable();
  const all = Array.from({ length: n }, (_, index) => ({
    id: `r${index}`,
    p: Math.round(100 * printed(((index * 613) % 1009) / 1009)) / 100,
    share: ((index * 383) % 997) / 997,
  }));
  for (const [line, { id, p }] of all.entries()) {
    const value = { id, question: "scam", probability: p, modelId: "maker/judge-7" };
    table.addRecord({ line, value }, "answers");
  }
  const join = new LabelJoin(table);
  for (const [line, { id, p, share }] of all.entries()) {
    join.add({ line, value: { id, truth: share < trueAt(p), labeler: "ada" } }, "labels");
  }
  const [column] = join.columns;
  if (column === undefined) throw new Error("no row was joined");
  const [report] = reportQuestions([toLabelledRows(column)], {
    maxRisk: 0.05,
    confidence: 0.95,
    onAverage: false,
    costs: null,
    seed: 1,
  });
  if (report === undefined) throw new Error("no question was reported");
  return report;
}

test("probabilities that hold are said to hold, and their skill leads", () => {
  expect(summarize(reportOf(1000, (p) => p))).toMatch(
    /^On your 1,000 labelled records `scam` is worth 3\d % of the way from guessing to knowing, and its probabilities hold on these labels\. /,
  );
});

test("a skill that few labels of the rarer truth show has no figure in the first sentence", () => {
  // Nine of 300 are a yes, and all are printed 0.95.
  const report = reportOf(
    300,
    (p) => (p > 0.5 ? 2 : 0),
    (share) => (share > 0.971 ? 0.95 : 0.02),
  );
  expect(report).toMatchObject({ verdict: "useful", scores: { auc: { value: 1 } } });
  expect(summarize(report)).toMatch(
    /^On your 300 labelled records `scam` is worth more than the base rate \(too few of the rarer truth show how much\), and/,
  );
});

test("probabilities that are too high are named with their range", () => {
  const report = reportOf(3000, (p) => (p > 0.6 ? p - 0.2 : p));
  expect(summarize(report)).toMatch(
    /, and its probabilities are too high between 0\.[5-7]\d{1,3} and (0\.[89]\d{1,3}|1\.00)\. These labels promise no threshold yet\.$/,
  );
});

test("what may be done without asking is said with its risk", () => {
  const report = reportOf(2000, (p) => (p > 0.5 ? 1 : 0.1));
  expect(summarize(report)).toMatch(
    /You may act on "yes" at 0\.51 and above, without asking: at most 5 % of that is wrong, with 95 % confidence\.$/,
  );
});

test.each([
  ["far from the base rate", (share: number) => 0.2 + 0.6 * share],
  ["near it", (share: number) => 0.02 * share],
])("worthless answers %s permit nothing; what a constant costs is said instead", (_, printed) => {
  const report = reportOf(2000, () => 0.01, printed);
  const sentence = summarize(report);
  expect(sentence).toContain("worthless");
  expect(sentence).not.toContain("You may act");
  expect(sentence).toMatch(
    /Always "no" would be wrong in 1\.\d % \(0\.\d % to 1\.\d %\); the answers add nothing to that\.$/,
  );
});

test("under 30 rows, and where all have one truth, there is no curve and no permission", () => {
  expect(summarize(reportOf(29, (p) => p))).toContain("fewer than 30 labels show no curve (29).");
  const sentence = summarize(reportOf(40, () => 0));
  expect(sentence).toContain("has only one truth (no)");
  expect(sentence).toContain('Always "no" would be wrong in 0.0 % (0.0 % to 8.9 %)');
});
