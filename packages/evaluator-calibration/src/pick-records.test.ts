import { expect, test } from "vitest";
import { AnswerTable } from "./input/answer-table.ts";
import { drawRecords, pickRecords } from "./pick-records.ts";
import { columnOf, world } from "./testing/worlds.ts";

test("a drawn sheet weighs its way back to the whole", () => {
  const all = world(
    4000,
    (p) => p,
    (u) => u ** 3,
  );
  const column = columnOf(all);
  const truthOf = new Map(all.map(({ id, truth }) => [id, truth]));
  const rate = all.filter(({ truth }) => truth).length / all.length;
  const estimates = Array.from({ length: 60 }, (_, seed) => {
    const picked = pickRecords(column, { budget: 200, seed });
    expect(picked).toHaveLength(200);
    const total = picked.reduce((sum, { drawn }) => sum + 1 / drawn, 0);
    expect(total).toBeCloseTo(4000, 6);
    return (
      picked.reduce((sum, { id, drawn }) => sum + (truthOf.get(id) === true ? 1 / drawn : 0), 0) /
      total
    );
  });
  const mean = estimates.reduce((sum, one) => sum + one, 0) / estimates.length;
  expect(Math.abs(mean - rate)).toBeLessThan(0.01);
});

test("a sheet has at least 2 of each of 10 strata, in an order that hides the values", () => {
  const all = world(
    1000,
    (p) => p,
    (u) => u ** 8,
  );
  const column = columnOf(all);
  const picked = pickRecords(column, { budget: 100, seed: 3 });
  const printed = new Map(all.map(({ id, p }) => [id, p]));
  const stratumOf = ({ id }: { id: string }) => Math.floor((100 * (printed.get(id) ?? 0)) / 10.1);
  const strata = picked.map(stratumOf);
  const sizes = [...Map.groupBy(strata, (stratum) => stratum).values()];
  expect(sizes).toHaveLength(10);
  for (const rows of sizes) expect(rows.length).toBeGreaterThanOrEqual(2);
  const inOrder = strata.filter((stratum, at) => stratum >= (strata[at - 1] ?? 0));
  expect(inOrder.length).toBeLessThan(80);
  expect(Object.keys(picked[0] ?? {})).toEqual(["id", "question", "drawn"]);
  expect(pickRecords(column, { budget: 100, seed: 3 })).toEqual(picked);
  expect(pickRecords(column, { budget: 5000, seed: 3 })).toHaveLength(1000);
});

test.each([
  [5, 1],
  [20, 2],
  [45, 4],
])("%d records are of %d strata, so that each has labels enough to be of use", (budget, strata) => {
  const column = columnOf(world(1000, (p) => p));
  const picked = pickRecords(column, { budget });
  expect(picked).toHaveLength(budget);
  expect(new Set(picked.map(({ drawn }) => drawn)).size).toBe(strata);
});

test("of one cluster at most one record is drawn, and weights are still those of all records", () => {
  const all = world(3000, (p) => p);
  const column = columnOf(all);
  // Threads of 1 to 5 records; the longer, the surer a yes.
  const threadOf = (index: number) =>
    `t${Math.floor(index / 15)}-${Math.floor(Math.sqrt(index % 15))}`;
  const clusters = new Map(all.slice(0, 2900).map(({ id }, index) => [id, threadOf(index)]));
  const long = new Set(
    all.filter((_, index) => index < 2900 && index % 15 >= 9).map(({ id }) => id),
  );
  const estimates = Array.from({ length: 60 }, (_, seed) => {
    const picked = pickRecords(column, { budget: 150, seed, clusters });
    const drawn = picked.map(({ id }) => clusters.get(id) ?? id);
    expect(new Set(drawn).size).toBe(150);
    const total = picked.reduce((sum, one) => sum + 1 / one.drawn, 0);
    return picked.reduce((sum, one) => sum + (long.has(one.id) ? 1 / one.drawn : 0), 0) / total;
  });
  const mean = estimates.reduce((sum, one) => sum + one, 0) / estimates.length;
  expect(Math.abs(mean - long.size / 3000)).toBeLessThan(0.015);
});

test("a uniform draw takes each record as often, one of each cluster, and more records with a larger budget", () => {
  const ids = Array.from({ length: 40 }, (_, index) => `r${index}`);
  const counts = new Map(ids.map((id) => [id, 0]));
  for (let seed = 0; seed < 2000; seed += 1) {
    for (const id of drawRecords({ ids }, { budget: 10, seed })) {
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  for (const count of counts.values()) expect(Math.abs(count - 500)).toBeLessThan(100);
  const ten = drawRecords({ ids }, { budget: 10, seed: 3 });
  expect(drawRecords({ ids: ids.toReversed() }, { budget: 20, seed: 3 }).slice(0, 10)).toEqual(ten);
  const clusters = new Map(ids.slice(0, 30).map((id, index) => [id, `thread ${index % 3}`]));
  const drawn = drawRecords({ ids }, { budget: 40, clusters });
  expect(drawn).toHaveLength(13);
  expect(new Set(drawn.map((id) => clusters.get(id) ?? id)).size).toBe(13);
});

test("a record with an empty cluster is no cluster with the others", () => {
  const table = new AnswerTable({ onePer: "thread" });
  for (const [line, thread] of ["a", "", "", 7].entries()) {
    const value = { id: `r${line}`, question: "scam", probability: 0.5, thread };
    table.addRecord({ line, value }, "answers");
  }
  expect([...table.clusters]).toEqual([
    ["r0", "a"],
    ["r3", "7"],
  ]);
});
