import { expect, test } from "vitest";
import { seededRandom, shuffle } from "../math/random.ts";
import { pickRecords } from "../pick-records.ts";
import { answersOf, columnIn, columnOf, world } from "../testing/worlds.ts";
import { LabelJoin } from "../input/join-labels.ts";
import { judgeLabels } from "./label-quality.ts";
import { toLabelledRows } from "./labelled-rows.ts";
import { reportQuestions } from "./question-report.ts";
import { asked } from "../testing/worlds.ts";

// One record in a hundred is a yes: most printed values are 0.00 to 0.03.
const rows = world(
  3000,
  (p) => p,
  (u) => 0.02 * u + 0.95 * u ** 40,
);
const table = answersOf(rows);

function joinOf(labels: readonly { id: string; drawn?: number; weight?: number }[]) {
  const truths = new Map(rows.map(({ id, truth }) => [id, truth]));
  const join = new LabelJoin(table);
  for (const [line, label] of labels.entries()) {
    join.add({ line, value: { ...label, truth: truths.get(label.id) } }, "labels");
  }
  return join;
}

function isFair(labels: Parameters<typeof joinOf>[0]): boolean {
  const joined = columnIn(joinOf(labels));
  return judgeLabels(toLabelledRows(joined).testedRows).noPromise === null;
}

test("what pick or chance drew is called unfair in few of many draws", () => {
  const random = seededRandom(1);
  let unfair = 0;
  for (let seed = 0; seed < 60; seed += 1) {
    if (!isFair(pickRecords(columnOf(rows), { budget: 150, seed }))) unfair += 1;
    if (
      !isFair(
        shuffle([...rows], random)
          .slice(0, 150)
          .map(({ id }) => ({ id })),
      )
    )
      unfair += 1;
  }
  expect(unfair).toBeLessThanOrEqual(2);
});

test("labels of very different weights are worth as few as they are", () => {
  const random = seededRandom(2);
  const [low, high] = [rows.filter(({ p }) => p < 0.015), rows.filter(({ p }) => p >= 0.015)];
  let unfair = 0;
  for (let round = 0; round < 60; round += 1) {
    const labels = [low, high].flatMap((stratum, at) => {
      const n = at === 0 ? 30 : 300;
      const drawn = n / stratum.length;
      return shuffle([...stratum], random)
        .slice(0, n)
        .map(({ id }) => ({ id, drawn }));
    });
    if (!isFair(labels)) unfair += 1;
  }
  expect(unfair).toBeLessThanOrEqual(1);
});

test("labels of the sure records alone promise nothing, with weights that hardly differ too", () => {
  const answers = world(4000, (p) => p);
  const truths = answers.filter(({ p }) => p <= 0.03 || p >= 0.97).slice(0, 400);
  for (const weightOf of [() => 1, (index: number) => (index % 2 === 0 ? 1 : 1.001)]) {
    const join = new LabelJoin(answersOf(answers));
    for (const [line, { id, truth }] of truths.entries()) {
      join.add({ line, value: { id, truth, weight: weightOf(line) } }, "labels");
    }
    const [report] = reportQuestions([toLabelledRows(columnIn(join))], asked);
    expect(report?.noPromise).toContain("their printed values differ by more than chance");
    expect(report?.actions.map(({ promised }) => promised)).toEqual([null, null]);
  }
});

test("labels that were picked promise nothing once their weights are lost", () => {
  const picked = pickRecords(columnOf(rows), { budget: 300, seed: 1 });
  expect(isFair(picked)).toBe(true);
  expect(isFair(picked.map(({ id }) => ({ id })))).toBe(false);
});
