import { expect, test } from "vitest";
import { AnswerTable } from "../input/answer-table.ts";
import { LabelJoin } from "../input/join-labels.ts";
import { playIntervals, shareWorlds } from "../testing/interval-worlds.ts";
import { stratifiedInterval } from "../thresholds/stratified-interval.ts";
import { clopperPearson } from "../thresholds/intervals.ts";
import { answersOf, columnIn, labelled } from "../testing/worlds.ts";
import { shareOfRows, toLabelledRows } from "./labelled-rows.ts";
import { shareOfYes } from "./share-of-yes.ts";

test.each([
  ["yes of 3000 by labels at random, yes in 50 %, strong", 660],
  ["yes of 3000 by pick, yes in 50 %, strong", 700],
  ["yes of 3000 by pick, yes in 10 %, strong", 570],
  ["accuracy of 3000 by pick, yes in 10 %, strong", 260],
])("%s: 200 labels hold, and are worth %i or more", (name, worth) => {
  const made = shareWorlds.find((one) => one.name === name);
  if (made === undefined) throw new Error("there is no such world");
  const played = playIntervals(made, 60);
  expect(played.missed).toBeLessThanOrEqual(0.1);
  expect(played.worth).toBeGreaterThan(worth);
});

test("of a rare yes, 40 labels of pick hold how many are found", () => {
  const made = shareWorlds.find(({ name }) => name.startsWith("found yes"));
  if (made === undefined) throw new Error("there is no such world");
  const { shown, missed } = playIntervals(made, 100);
  expect(shown).toBeGreaterThan(0.9);
  expect(missed).toBeLessThanOrEqual(0.08);
});

// By hand: 60 labels, 20 of 30 yes at 0.8 and 5 of 30 at 0.2; of all 300 records a fifth is printed 0.8.
test("the share of yes in all records follows from their printed values and the labels", () => {
  const table = new AnswerTable();
  const ids = Array.from({ length: 300 }, (_, at) => `r${at}`);
  for (const [at, id] of ids.entries()) {
    const value = { id, question: "q", probability: at < 60 ? 0.8 : 0.2, modelId: "m" };
    table.addRecord({ line: at, value }, "a");
  }
  const join = new LabelJoin(table);
  for (const [at, id] of ids.slice(30, 90).entries()) {
    join.add({ line: at, value: { id, truth: at < 20 || (at >= 30 && at < 35) } }, "l");
  }
  const yes = shareOfYes(toLabelledRows(columnIn(join)));
  expect(yes).toMatchObject({ records: 300 });
  expect(yes?.value).toBeCloseTo((20 / 30) * 0.2 + (5 / 30) * 0.8, 12);
  // Of the squares 875 / 60 is 65 / 6 the rest, and 35 / 72 that of two more rows.
  const variance = (0.8 * (65 / 6 + 35 / 72)) / 60 / 58;
  const value = 4 / 15;
  const effective = (value * (1 - value)) / variance;
  const { low, high } = clopperPearson(value * effective, effective);
  expect(yes?.low).toBeCloseTo(low - 1 / 300, 9);
  expect(yes?.high).toBeCloseTo(high + 1 / 300, 9);
});

test("of few labels of one truth the interval is the exact one, and records with a label are in no doubt", () => {
  const rows = Array.from({ length: 500 }, (_, at) => ({ id: `r${at}`, p: 0.1, truth: false }));
  const join = new LabelJoin(answersOf(rows));
  for (const { id, truth } of rows.slice(0, 100)) join.add({ line: 1, value: { id, truth } }, "l");
  const yes = shareOfYes(toLabelledRows(columnIn(join)));
  expect(yes).toEqual({ value: 0, low: 0, high: clopperPearson(0, 100).high, records: 500 });
});

test("if all records have a label, the share of yes has no doubt", () => {
  const all = Array.from({ length: 60 }, (_, at) => ({ id: `r${at}`, p: 0.5, truth: at < 9 }));
  const yes = shareOfYes(labelled(all));
  expect([yes?.low, yes?.value, yes?.high]).toEqual(Array(3).fill(expect.closeTo(0.15, 12)));
});

test("the strata of a whole sheet of pick are in the interval, those of half a sheet are not", () => {
  const intervalOf = (share: number) => {
    const table = new AnswerTable();
    const ids = Array.from({ length: 1000 }, (_, at) => `r${at}`);
    for (const [at, id] of ids.entries()) {
      const value = { id, question: "q", probability: at < 900 ? 0 : 0.5, modelId: "m" };
      table.addRecord({ line: at, value }, "a");
    }
    const join = new LabelJoin(table);
    // 45 of the 900, all right, and 50 of the 100, half of them right.
    const drawn = [...ids.slice(0, 45), ...ids.slice(900, 950)];
    for (const [at, id] of drawn.slice(0, share * drawn.length).entries()) {
      const isUnsure = at >= 45;
      const truth = isUnsure && at % 2 === 0;
      join.add({ line: at, value: { id, truth, drawn: isUnsure ? 0.5 : 0.05 } }, "l");
    }
    const rows = toLabelledRows(columnIn(join));
    return shareOfRows(rows, (row) => rows.top[row] === rows.truth[row]);
  };
  const whole = intervalOf(1);
  expect(whole.value).toBeCloseTo(0.95, 12);
  const strata = [
    { records: 900, n: 45, hits: 45 },
    { records: 100, n: 50, hits: 25 },
  ];
  expect(whole).toMatchObject(stratifiedInterval(strata, "alike"));
  // 47 rows: 45 of weight 20, one wrong and one right of weight 2 (Kish).
  const effective = 904 ** 2 / (45 * 400 + 2 * 4);
  expect(intervalOf(0.5).low).toBeCloseTo(
    clopperPearson((902 / 904) * effective, effective).low,
    12,
  );
});

test("weights of single labels are no strata, although they add up to the number of all records", () => {
  const all = Array.from({ length: 200 }, (_, at) => ({
    weight: 10 + at / 20,
    isYes: at % 2 === 0,
  }));
  const total = all.reduce((sum, { weight }) => sum + weight, 0);
  const rows = Array.from({ length: 3000 }, (_, at) => ({ id: `r${at}`, p: 0.5, truth: true }));
  const join = new LabelJoin(answersOf(rows));
  for (const [at, { weight, isYes }] of all.entries()) {
    const value = { id: `r${at}`, truth: isYes, weight: (3000 * weight) / total };
    join.add({ line: at, value }, "labels");
  }
  const { low, high } = shareOfRows(toLabelledRows(columnIn(join)), (row) => row % 2 === 0);
  // 0.5 ± 1.96 √(0.25 / 200), by the weights a little wider.
  expect(high - low).toBeGreaterThan(0.136);
});

// Sheets with an estimate only if three labels are a yes would be those of too many by chance.
test("a whole sheet of pick without a yes has an interval, and half of it has none", () => {
  const rows = Array.from({ length: 1000 }, (_, at) => {
    return { id: `r${at}`, p: at < 900 ? 0 : 0.5, truth: false };
  });
  const estimateOf = (drawn: readonly (typeof rows)[number][]) => {
    const join = new LabelJoin(answersOf(rows));
    for (const { id, p, truth } of drawn) {
      join.add({ line: 1, value: { id, truth, drawn: p === 0 ? 0.05 : 0.2 } }, "l");
    }
    return shareOfYes(toLabelledRows(columnIn(join)));
  };
  const sheet = [...rows.slice(0, 45), ...rows.slice(900, 920)];
  expect(estimateOf(sheet)).toMatchObject({ value: 0, low: 0 });
  expect(estimateOf(sheet)?.high).toBeGreaterThan(0.06);
  expect(estimateOf(sheet.slice(30))).toBeNull();
});
