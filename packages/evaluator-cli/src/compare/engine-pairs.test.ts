import {
  AnswerTable,
  LabelJoin,
  reportQuestions,
  toLabelledRows,
} from "evaluator-calibration/reports";
import { expect, test } from "vitest";
import { pairEngines } from "./engine-pairs.ts";

interface Row {
  readonly truth: boolean;
  readonly p: readonly [first: number, second: number];
  readonly weight?: number;
}

/** Returns both engines of some rows as `compare` judges them: all promises share the level. */
function pairOf(rows: readonly Row[]) {
  const engines = ["one", "other"].map((name, engine) => {
    const table = new AnswerTable();
    for (const [at, { p }] of rows.entries()) {
      const value = { id: `r${at}`, question: "q", probability: p[engine], modelId: name };
      table.addRecord({ line: at, value }, name);
    }
    const join = new LabelJoin(table);
    for (const [at, { truth, weight = 1 }] of rows.entries()) {
      join.add({ line: at, value: { id: `r${at}`, truth, weight } }, "labels");
    }
    const [joined] = join.columns;
    if (joined === undefined) throw new Error("No row was joined.");
    return { name, column: joined.column, rows: toLabelledRows(joined) };
  });
  const wanted = { maxRisk: 0.05, confidence: 0.95, seed: 1, onAverage: false, costs: null };
  const reports = reportQuestions(
    engines.map((engine) => engine.rows),
    wanted,
  );
  const [pair] = pairEngines(
    engines.flatMap((engine, at) => {
      const report = reports[at];
      return report === undefined ? [] : [{ ...engine, report }];
    }),
  );
  if (pair === undefined) throw new Error("There is no pair.");
  return pair;
}

const times = (n: number, row: Row) => Array.from({ length: n }, () => row);

test("mistakes on the same records correlate, and mistakes on different ones do not", () => {
  const right = times(90, { truth: true, p: [0.9, 0.9] });
  const same = pairOf([...right, ...times(10, { truth: false, p: [0.9, 0.9] })]);
  expect(same.mistakes).toMatchObject({ n: 100, first: 10, second: 10, both: 10 });
  expect(same.mistakes.correlation).toBeCloseTo(1, 9);
  const other = pairOf([
    ...times(80, { truth: true, p: [0.9, 0.9] }),
    ...times(10, { truth: false, p: [0.9, 0.1] }),
    ...times(10, { truth: false, p: [0.1, 0.9] }),
  ]);
  // (0 × 80 − 10 × 10) / (10 × 90)
  expect(other.mistakes.correlation).toBeCloseTo(-1 / 9, 9);
  expect(pairOf(right).mistakes.correlation).toBeNull();
});

test("a weight counts as many labels", () => {
  const rows = [
    ...times(20, { truth: true, p: [0.9, 0.9] }),
    { truth: false, p: [0.9, 0.1] } as const,
    { truth: false, p: [0.1, 0.9] } as const,
  ];
  const both = { truth: false, p: [0.9, 0.9] } as const;
  const repeated = pairOf([...rows, both, both, both]).mistakes.correlation;
  expect(pairOf([...rows, { ...both, weight: 3 }]).mistakes.correlation).toBeCloseTo(
    repeated ?? Number.NaN,
    9,
  );
});

test("two engines cover what one of them may act on, without the records on which they conflict", () => {
  const { covered } = pairOf([
    ...times(150, { truth: true, p: [0.99, 0.6] }),
    ...times(300, { truth: false, p: [0.52, 0.02] }),
    ...times(100, { truth: true, p: [0.99, 0.99] }),
    ...times(3, { truth: true, p: [0.99, 0.02] }),
    ...times(100, { truth: false, p: [0.52, 0.6] }),
  ]);
  expect(covered).toEqual({ records: 653, first: 253, second: 403, together: 550, conflicts: 3 });
});
