import { expect, test } from "vitest";
import { seededRandom, shuffle } from "../math/random.ts";
import {
  distributionRows,
  labelled,
  labelledWith,
  report,
  type Row,
  world,
} from "../testing/worlds.ts";
import { fitRecalibration, recalibrateRows } from "./recalibrate.ts";
import { scoreRows } from "./score-report.ts";

test("probabilities that hold are said to hold, and their skill leads", () => {
  const found = report(world(3000, (p) => p));
  expect(found).toMatchObject({ verdict: "useful", curve: { isCalibrated: true } });
  expect(found.recalibration.heldOut?.after).toBeCloseTo(
    found.recalibration.heldOut?.before ?? 0,
    2,
  );
});

test("probabilities that are too high are named with their range, and recalibrated", () => {
  const found = report(world(3000, (p) => (p > 0.6 ? p - 0.2 : p)));
  expect(found.curve?.isCalibrated).toBe(false);
  const { heldOut, recalibration } = found.recalibration;
  expect(heldOut?.after).toBeLessThan(heldOut?.before ?? 0);
  expect(found.question).toBe("scam");
  expect(recalibration?.kind).toBe("isotonic");
});

test("answers near the base rate are worthless, although their calibration error looks fine", () => {
  const found = report(
    world(
      600,
      () => 0.25,
      (u) => 0.24 + 0.02 * u,
    ),
    "local/lexical-1",
  );
  const error = found.curve?.calibrationError;
  expect(error?.equalWidth).toBeLessThan(0.05);
  expect(found.curve?.isCalibrated).toBe(true);
  expect(found.verdict).toBe("worthless");
});

test("a skill that two lucky rows make is not called useful", () => {
  const rows = Array.from({ length: 40 }, (_, index) => {
    return { id: `r${index}`, p: index < 2 ? 0.8 : 0.05, truth: index < 3 };
  });
  const found = report(rows);
  expect(found.scores.skill.value).toBeGreaterThan(0.5);
  // Two of three yes are the first two of 40 in 4 of 1,000 orders.
  expect(found.orderPValue).toBeLessThan(0.01);
  expect(found.verdict).toBe("useful after recalibration");
});

/** Rows of a judge with a good order whose log odds are three too high. */
function tooHigh(n: number, seed: number) {
  const random = seededRandom(seed);
  const share = (odds: number) => 1 / (1 + Math.exp(-odds));
  return Array.from({ length: n }, (_, index) => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const odds = 4 * normal - 3;
    const p = Math.round(100 * share(odds + 3)) / 100;
    return { id: `r${index}`, p, truth: random() < share(odds) };
  });
}

test("a judge that prints too high is useful after recalibration, and its sure acts are promised", () => {
  const seeds = Array.from({ length: 40 }, (_, seed) => seed);
  const verdicts = seeds.map((seed) => report(tooHigh(50, seed)).verdict);
  const useful = verdicts.filter((verdict) => verdict.startsWith("useful"));
  expect(useful.length).toBeGreaterThanOrEqual(38);
  const promised = seeds.filter((seed) => {
    return report(tooHigh(300, seed)).actions.some((action) => action.promised !== null);
  });
  expect(promised.length).toBeGreaterThanOrEqual(34);
});

test.each([
  ["prints anything", (random: () => number) => random(), 0.3],
  ["prints one value", () => 0.6, 0.3],
  ["prints two values", (random: () => number) => (random() < 0.5 ? 0.1 : 0.9), 0.1],
  ["prints anything, and yes is rare", (random: () => number) => random(), 0.03],
])(
  "a judge that %s without a look is worthless in at least 95 %% of reports",
  (_, print, share) => {
    const useful = Array.from({ length: 60 }, (_row, seed) => {
      const random = seededRandom(seed);
      const rows = Array.from({ length: 100 }, (_cell, index) => {
        const p = Math.round(100 * print(random)) / 100;
        return { id: `r${index}`, p, truth: random() < share };
      });
      return report(rows).verdict.startsWith("useful");
    }).filter(Boolean);
    expect(useful.length).toBeLessThanOrEqual(3);
  },
);

test("under 30 rows there are scores, and no curve, threshold or promise", () => {
  const found = report(world(29, (p) => p));
  expect(found).toMatchObject({ curve: null, actions: [], n: 29 });
  expect(found.scores.skill.value).toBeGreaterThan(-1);
});

test("rows of one truth show nothing, and no figure looks like one", () => {
  const found = report(world(40, () => 0));
  expect(found.verdict).toBe("one truth only");
});

test("every number is the same after the rows are shuffled", () => {
  const rows = labelledWith(
    world(900, (p) => p ** 1.3),
    (index) => ({ group: `g${index % 4}`, drawn: index % 3 === 0 ? 0.5 : 0.25 }),
  );
  const shown = (of: readonly Row[]) =>
    JSON.parse(
      JSON.stringify(report(of), (_, value) =>
        typeof value === "number" ? Number(value.toPrecision(9)) : value,
      ),
    ) as unknown;
  expect(shown(shuffle([...rows], seededRandom(2)))).toEqual(shown(rows));
});

test("a group has the difference between its truths and its printed values", () => {
  const groupOf = (index: number) => (index < 10 ? "few" : index % 2 === 0 ? "even" : "odd");
  const truths = world(500, (p) => p).map(({ id, p, truth }, index) => {
    return { id, p, truth: groupOf(index) === "odd" ? p > 0.1 : truth };
  });
  const rows = labelledWith(truths, (index) => ({ group: groupOf(index) }));
  const groups = new Map(report(rows).groups.map((group) => [group.group, group]));
  expect([...groups.values()].map(({ n }) => n)).toEqual([245, 245, 10]);
  expect(groups.get("even")?.difference.low).toBeLessThan(0);
  expect(groups.get("even")?.difference.high).toBeGreaterThan(0);
  expect(groups.get("odd")?.difference.low).toBeGreaterThan(0);
});

test("the worst rows are those whose truth was printed as least likely", () => {
  const rows = [
    ...world(
      100,
      () => 0,
      (u) => u / 3,
    ),
    { id: "odd", p: 0.01, truth: true },
  ];
  const { worst } = report(rows);
  expect(worst).toHaveLength(20);
  expect(worst[0]).toEqual({ id: "odd", truth: "yes", answer: "no", probability: 0.01 });
});

test("a recalibration is fitted by the weights of the labels: a weight is as good as so many rows", () => {
  const rows = world(400, (p) => (p > 0.6 ? p - 0.2 : p));
  const weighted = labelledWith(rows, (index) => ({ weight: index % 2 === 0 ? 3 : 1 }));
  const repeated = rows.flatMap(({ id, p, truth }, index) => {
    const copies = index % 2 === 0 ? ["a", "b", "c"] : ["a"];
    return copies.map((copy) => ({ id: `${id}${copy}`, p, truth }));
  });
  const [fit, same, other] = [weighted, repeated, rows].map((some) => {
    return fitRecalibration(labelled(some)).recalibration?.parameters as {
      intercept: number;
      slope: number;
    };
  });
  expect(fit?.slope).toBeCloseTo(same?.slope ?? Number.NaN, 9);
  expect(fit?.intercept).toBeCloseTo(same?.intercept ?? Number.NaN, 9);
  expect(fit?.slope).not.toBeCloseTo(other?.slope ?? Number.NaN, 3);
});

test("options that are printed too surely get a temperature, and their held-out loss falls to the entropy", () => {
  // The top option of 0.9 is true in 3 of 5 records, and each other option in 1 of 5.
  const tops = Array.from({ length: 600 }, (_, row) => Math.floor(row / 5) % 3);
  const P = tops.map((top) => [0, 1, 2].map((option) => (option === top ? 0.9 : 0.05)));
  const truth = tops.map((top, row) => (top + Math.max(0, (row % 5) - 2)) % 3);
  const rows = distributionRows(P, truth, { isOrdered: false });
  const { recalibration, heldOut } = recalibrateRows(rows, scoreRows(rows).logLoss.value);
  expect(recalibration?.kind).toBe("temperature");
  expect(heldOut?.before).toBeCloseTo(-0.6 * Math.log(0.9) - 0.4 * Math.log(0.05), 9);
  expect(heldOut?.after).toBeCloseTo(-0.6 * Math.log(0.6) - 0.4 * Math.log(0.2), 2);
});

test("a yes of 0.5 counts as yes", () => {
  expect([...labelled([{ id: "a", p: 0.5, truth: true }]).top]).toEqual([1]);
});

// If 3 % of such records are true, 30 of 100 groups of 40 show none.
test("a group without a true row may have some among the others like it", () => {
  const rows = labelledWith(
    Array.from({ length: 40 }, (_, at) => ({ id: `r${at}`, p: 0.01, truth: false })),
    () => ({ group: "one" }),
  );
  const [group] = report(rows).groups;
  expect(group?.difference.value).toBeCloseTo(-0.01, 12);
  expect(group?.difference.high).toBeGreaterThan(0.06);
  expect(group?.difference.high).toBeLessThan(0.1);
});
