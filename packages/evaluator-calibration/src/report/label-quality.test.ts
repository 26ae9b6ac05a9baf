import { expect, test } from "vitest";
import { answersOf, columnIn } from "../testing/worlds.ts";
import { AnswerTable } from "../input/answer-table.ts";
import { LabelJoin } from "../input/join-labels.ts";
import { cohenKappa } from "../index.ts";
import { seededRandom } from "../math/random.ts";
import { judgeLabels } from "./label-quality.ts";
import { toLabelledRows } from "./labelled-rows.ts";

const table = answersOf(["a", "b", "c", "d"].map((id) => ({ id, p: 0.9, truth: true })));

function joinOf(labels: readonly object[], options = {}) {
  const join = new LabelJoin(table, options);
  for (const [index, value] of labels.entries()) join.add({ line: index + 1, value }, "labels");
  return join;
}

function by(labeler: string, id: string, truth: unknown) {
  return { id, labeler, truth, ...(truth === null && { skipped: true }) };
}

test("a skipped record is counted, has no truth, and is wrong for each act", () => {
  const join = joinOf([
    { id: "a", truth: true },
    { id: "b", truth: null, skipped: true },
    { id: "c", truth: "", skipped: "yes" },
  ]);
  expect(join.countsOf("scam")).toMatchObject({ labelled: 3, joined: 3, skipped: 2, tied: 0 });
  const rows = toLabelledRows(columnIn(join));
  expect(rows.ids).toEqual(["a"]);
  expect(rows.testedRows.ids).toEqual(["a", "b", "c"]);
  expect([...rows.testedRows.cameTrue]).toEqual([1, 2, 2]);
  expect(() => joinOf([{ id: "a", truth: true, skipped: true }])).toThrow(
    "labels line 1: has skipped and the truth true; leave one empty",
  );
});

test("an empty row of a drawn sheet is a skip if a later row is filled in; other sheets were not reached", () => {
  const drawn = joinOf([
    { id: "a", truth: "", drawn: 0.5 },
    { id: "b", truth: true, drawn: 0.5 },
    { id: "c", truth: null, drawn: 0.5 },
  ]);
  expect(columnIn(drawn)).toMatchObject({ rows: [0, 1], truth: [-1, 1], weights: [2, 2] });
  expect(drawn.blank).toBe(1);
  const byHand = joinOf([
    { id: "a", truth: "" },
    { id: "b", truth: true },
  ]);
  expect(columnIn(byHand)).toMatchObject({ rows: [1], truth: [1] });
  expect(byHand.blank).toBe(1);
});

test("an empty cell of a table is a row that is not filled in yet, and no truth column is an error", () => {
  const join = joinOf([
    { id: "a", truth: "", skipped: "" },
    { id: "b", truth: "", skipped: "yes" },
    { id: "c", truth: "1", skipped: "" },
  ]);
  expect([join.blank, columnIn(join).truth]).toEqual([1, [-1, 1]]);
  const row = { line: 2, value: { id: "a", label: "1" } };
  expect(() => join.add(row, "labels")).toThrow("labels line 2: has no truth");
});

test("the truth is the majority of the labelers; a tie has none", () => {
  const join = joinOf([
    by("ada", "a", true),
    by("bob", "a", false),
    by("cy", "a", false),
    by("ada", "b", true),
    by("bob", "b", false),
    by("ada", "c", true),
    by("bob", "c", null),
    by("ada", "d", true),
  ]);
  const joined = columnIn(join);
  expect(joined.truth).toEqual([0, -2, -2, 1]);
  expect(join.countsOf("scam")).toMatchObject({ joined: 4, skipped: 2, tied: 2, repeated: 0 });
  const { labelers, agreement } = judgeLabels(toLabelledRows(joined).testedRows);
  expect(labelers).toEqual([
    { name: "ada", n: 4 },
    { name: "bob", n: 3 },
    { name: "cy", n: 1 },
  ]);
  expect(agreement).toMatchObject({ n: 2, labelers: 3, alpha: null, farthest: null });
  // The single labels of ada, bob and cy differ from 1, 3/4 and 1/2 of the others' in the mean.
  expect(agreement?.disagree).toBeCloseTo((1 + 0.5 + 0.5 + 1 + 1) / 5, 12);
});

test("one labeler's second label is an error, or with last replaces the first; that of a record without answer too", () => {
  const twice = [by("ada", "a", true), by("bob", "a", true), by("ada", "a", false)];
  expect(() => joinOf(twice)).toThrow('labels line 3: record "a" is labelled a second time');
  const join = joinOf([...twice, by("bob", "a", false)], { last: true });
  expect(columnIn(join).truth).toEqual([0]);
  expect(join.countsOf("scam")).toMatchObject({ labelled: 1, repeated: 2 });
  const unknown = [by("ada", "x", true), by("bob", "x", true)];
  const counts = joinOf(unknown, { allowUnknown: true }).countsOf("scam");
  expect(counts).toMatchObject({ labelled: 1, unknown: 1, repeated: 0 });
  expect(() => joinOf([...unknown, by("bob", "x", true)], { allowUnknown: true })).toThrow(
    'labels line 3: record "x" is labelled a second time',
  );
});

// By hand: po = 35/50, pe = 0.5 * 0.6 + 0.5 * 0.4; levels weigh 1, 4 and 9.
test("kappa is agreement beyond chance; levels that are far apart disagree more", () => {
  const many = (n: number, one: number, other: number) =>
    Array.from({ length: n }, (): [number, number] => [one, other]);
  const pairs = [...many(20, 1, 1), ...many(5, 1, 0), ...many(10, 0, 1), ...many(15, 0, 0)];
  const columns = (rows: readonly [number, number][]) =>
    [rows.map(([one]) => one), rows.map(([, other]) => other)] as const;
  expect(cohenKappa(...columns(pairs), { weights: "none" })).toBeCloseTo(0.4, 12);
  expect(cohenKappa([0, 1, 2, 3], [0, 1, 2, 3], { weights: "quadratic" })).toBe(1);
  expect(cohenKappa([0, 1, 2, 3], [1, 1, 2, 3], { weights: "quadratic" })).toBeCloseTo(
    1 - 1 / 8,
    12,
  );
  expect(cohenKappa([0, 1, 2, 3], [3, 1, 2, 3], { weights: "quadratic" })).toBeLessThan(0.5);
  expect(cohenKappa([1, 1], [1, 1])).toBeNaN();
  expect(() => cohenKappa([1, 0.5], [1, 1])).toThrow("a[1] is 0.5");
  expect(() => cohenKappa([1], [1, 1])).toThrow("index 1 is in one of them only");
});

const LEVELS = ["0", "1", "2", "3"];

test("labelers of levels disagree more if the levels are far apart", () => {
  const ids = Array.from({ length: 40 }, (_, at) => `r${at}`);
  const alphaOf = (options: readonly string[], far: string) => {
    const levels = new AnswerTable();
    const probabilities = Object.fromEntries(options.map((name) => [name, 1 / options.length]));
    for (const id of ids) {
      levels.addRecord({ line: 1, value: { id, question: "level", probabilities } }, "answers");
    }
    const labels = new LabelJoin(levels);
    for (const [at, id] of ids.entries()) {
      const truth = options[at % options.length];
      labels.add({ line: 1, value: { id, truth, labeler: "ada" } }, "labels");
      const other = at === 0 ? far : truth;
      labels.add({ line: 1, value: { id, truth: other, labeler: "bob" } }, "labels");
    }
    const { testedRows: tested } = toLabelledRows(columnIn(labels));
    return judgeLabels(tested).agreement?.alpha?.value ?? Number.NaN;
  };
  expect(alphaOf(LEVELS, "3")).toBeLessThan(alphaOf(LEVELS, "1"));
  const names = ["w", "x", "y", "z"];
  expect(alphaOf(names, "x")).toBeCloseTo(alphaOf(names, "z"), 12);
});

/** The labels of three of ten labelers on each record; some turn a share of them. */
function labelsOfMany(turnedBy: Readonly<Record<string, number>>) {
  const random = seededRandom(7);
  const ids = Array.from({ length: 300 }, (_, at) => `m${at}`);
  const labels = new LabelJoin(answersOf(ids.map((id) => ({ id, p: 0.5, truth: true }))));
  for (const [at, id] of ids.entries()) {
    const isYes = random() < 0.5;
    for (const step of [0, 1, 3]) {
      const labeler = `person ${(at + step) % 10}`;
      const isTurned = random() < (turnedBy[labeler] ?? 0.05);
      labels.add({ line: 1, value: { id, labeler, truth: isYes !== isTurned } }, "labels");
    }
  }
  return judgeLabels(toLabelledRows(columnIn(labels)).testedRows).agreement;
}

test("many labelers have one alpha, and the one who is farthest from the rest is named", () => {
  const agreement = labelsOfMany({ "person 4": 0.4 });
  expect(agreement).toMatchObject({ n: 300, labelers: 10 });
  expect(agreement?.farthest).toMatchObject({ name: "person 4", n: 90, isByChance: false });
  expect(agreement?.farthest?.differs.value).toBeGreaterThan(0.3);
  expect(labelsOfMany({})?.farthest?.isByChance).toBe(true);
  const noneTurned = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`person ${at}`, 0]));
  expect(labelsOfMany(noneTurned)).toMatchObject({ disagree: 0, farthest: null });
});
