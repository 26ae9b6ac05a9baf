import { expect, test } from "vitest";
import { AnswerTable } from "../input/answer-table.ts";
import { LabelJoin } from "../input/join-labels.ts";
import { clusterWorlds, playClusters } from "../testing/cluster-worlds.ts";
import { asked, columnIn } from "../testing/worlds.ts";
import { toLabelledRows } from "./labelled-rows.ts";
import { onePerCluster } from "./one-per-cluster.ts";
import { reportQuestions } from "./question-report.ts";

const wanted = new Set([
  "20 threads of 120, labels at random",
  "20 copies of 120, labels by label",
]);

test.each(clusterWorlds.filter(({ name }) => wanted.has(name)))(
  "a promise holds for records and not for clusters: $name",
  (made) => {
    // One row of each cluster that counts once is broken in half of the rounds.
    expect(playClusters(made, 15).broken).toBe(0);
  },
);

test("a row of each cluster weighs its records over the chance of the cluster", () => {
  const table = new AnswerTable({ onePer: "thread" });
  const ids = Array.from({ length: 12 }, (_, at) => `m${at}`);
  for (const [at, id] of ids.entries()) {
    // One thread of ten records, and two records that are alone.
    const thread = at < 10 ? "long" : id;
    const value = { id, question: "q", probability: 0.1, thread };
    table.addRecord({ line: 1, value }, "a");
  }
  const labels = new LabelJoin(table, { onePer: "thread" });
  for (const id of ["m0", "m1", "m10"]) {
    labels.add({ line: 1, value: { id, truth: false } }, "l");
  }
  const rows = onePerCluster(toLabelledRows(columnIn(labels)).testedRows, true);
  expect(rows.ids).toHaveLength(2);
  // Of a share s of the records drawn, 1 − (1 − s) ** 10 + 2 s clusters are seen: 2 for s = 0.5012.
  const chance = 0.50042;
  const weightOf = (id: string) => rows.weights?.[rows.ids.indexOf(id)] ?? 0;
  expect(weightOf("m10")).toBeCloseTo(1 / chance, 2);
  expect(rows.weights?.reduce((sum, one) => sum + one, 0)).toBeCloseTo(
    1 / chance + 10 / 0.99903,
    2,
  );
});

test("labels of few values of a column are named, unless it names categories or single records", () => {
  const table = new AnswerTable();
  const ids = Array.from({ length: 600 }, (_, at) => `m${at}`);
  for (const [at, id] of ids.entries()) {
    const more = { game: `g${at % 50}`, language: ["en", "de"][at % 2], subject: `about ${at}` };
    table.addRecord({ line: at, value: { id, question: "q", probability: 0.5, ...more } }, "a");
  }
  const labels = new LabelJoin(table);
  for (const [at, id] of ids.entries()) {
    labels.add({ line: at, value: { id, truth: at % 3 === 0 } }, "l");
  }
  const [report] = reportQuestions([toLabelledRows(columnIn(labels))], asked);
  expect(report?.repeats).toEqual([{ column: "game", n: 50, labels: 600 }]);
});

test("records with one state have one label, which counts for all of them", () => {
  const table = new AnswerTable();
  const questions = { q: { type: "boolean", instructions: "Is it?" } } as const;
  const ids = Array.from({ length: 60 }, (_, at) => `m${at}`);
  for (const [at, id] of ids.entries()) {
    const evaluation = { answers: { q: { type: "boolean", probability: 0.2 } }, modelId: "m/x" };
    const state = { text: at < 20 ? "the same" : `text ${at}` };
    const entry = { id, questions, wire: "https://a.test", state, evaluation };
    table.addEvaluation(entry, { file: "a" });
  }
  const labels = new LabelJoin(table);
  for (const [at, id] of ids.entries()) {
    labels.add({ line: at, value: { id, truth: at < 30 } }, "l");
  }
  const [report] = reportQuestions([toLabelledRows(columnIn(labels))], asked);
  expect(report).toMatchObject({ n: 41, copies: 19 });
  // 20 records of one state and 10 of 40 others are yes, whatever part of them is labelled.
  expect(1 - (report?.scores.accuracy.value ?? 0)).toBeCloseTo(0.5, 12);
});
