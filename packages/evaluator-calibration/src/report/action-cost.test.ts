import { expect, test } from "vitest";
import { costWorlds, playCosts } from "../testing/cost-worlds.ts";
import { crossFittedCost } from "./action-cost.ts";

test.each(costWorlds)("the cost of a record is that of records without a label: $name", (made) => {
  const { below } = playCosts(made, { n: 200, rounds: 80, others: 20_000 });
  // The cheapest threshold of the labels themselves prints up to 25 % less than it costs.
  expect(Math.abs(below)).toBeLessThan(0.1);
});

test("the threshold for the costs is that of recalibrated probabilities, the same in any order", () => {
  // Printed 0.90 comes true in 3 of 5: with equal costs acting pays from a printed 0.51 on, with 3 to 1 not at all.
  const rows = Array.from({ length: 300 }, (_, at) => ({
    id: `r${at}`,
    sureness: at % 2 === 0 ? 0.9 : 0.2,
    wrong: Number(at % 2 === 0 ? at % 5 > 2 : at % 9 > 0),
  }));
  const take = (all: typeof rows) => ({
    ids: all.map(({ id }) => id),
    sureness: all.map(({ sureness }) => sureness),
    wrong: all.map(({ wrong }) => wrong),
    lowest: 0.51,
  });
  const equal = crossFittedCost(take(rows), { falseAct: 1, missedAct: 1 });
  expect(equal.threshold).toBeLessThanOrEqual(0.9);
  const turned = crossFittedCost(take(rows.toReversed()), { falseAct: 1, missedAct: 1 });
  expect(turned.threshold).toBe(equal.threshold);
  expect(turned.cost).toBeCloseTo(equal.cost, 12);
  const dear = crossFittedCost(take(rows), { falseAct: 3, missedAct: 1 });
  expect(dear.threshold).toBeNull();
});
