import { expect, test } from "vitest";
import { binomialProbability } from "../math/special-functions.ts";
import { intervalWorlds, playIntervals } from "../testing/interval-worlds.ts";
import { playVerdicts, verdictWorlds } from "../testing/verdict-worlds.ts";
import { labelled, report } from "../testing/worlds.ts";
import { scoreRows } from "./score-report.ts";

test.each(intervalWorlds.filter(({ n, name }) => n < 1000 && name.includes("10 %")))(
  "the interval of $n labels holds in 95 of 100 draws: $name",
  (made) => {
    expect(playIntervals(made, 150, 20_000).missed).toBeLessThanOrEqual(0.1);
  },
);

test("ten labels of the rarer truth have both intervals, in whichever share of the labels; nine have none", () => {
  for (const n of [30, 70, 290, 300, 1000]) {
    const [ten, nine] = [10, 9].map((yes) => {
      const rows = Array.from({ length: n }, (_, at) => ({
        id: `r${at}`,
        p: 0.1,
        truth: at < yes,
      }));
      const { skill, auc } = scoreRows(labelled(rows));
      return [skill, auc].map(({ low }) => Number.isNaN(low));
    });
    expect([ten, nine], `${n}`).toEqual([Array(2).fill(false), Array(2).fill(true)]);
  }
});

// By arithmetic: the chance of each number of wrong labels. Wilson's limits hold in 84 % of 60 labels if 0.3 % are wrong.
test.each([10, 60, 200])("the accuracy of %d labels holds in 95 % at every true share", (n) => {
  const limits = Array.from({ length: n + 1 }, (_, wrong) => {
    const rows = Array.from({ length: n }, (_, at) => ({ id: `r${at}`, p: 1, truth: at >= wrong }));
    return scoreRows(labelled(rows)).accuracy;
  });
  for (let step = 1; step < 400; step += 1) {
    const share = 1 - (step / 400) ** 3;
    const chances = limits.map(({ low, high }, wrong) =>
      low <= share && share <= high ? binomialProbability(n - wrong, n, share) : 0,
    );
    const holds = chances.reduce((sum, chance) => sum + chance, 0);
    expect(holds, `${share}`).toBeGreaterThanOrEqual(0.95 - 1e-9);
  }
});

test("fewer than ten rows of the rarer truth have no interval, and what they show is still said", () => {
  const made = (of9: number) =>
    Array.from({ length: 60 }, (_, at) => ({
      id: `r${at}`,
      p: at < 9 ? of9 : 0.02,
      truth: at < 9,
    }));
  const { skill, auc } = scoreRows(labelled(made(0.02)));
  expect(skill).toMatchObject({ low: Number.NaN, high: Number.NaN, isShown: false });
  expect(auc).toMatchObject({ value: 0.5, low: Number.NaN });
  const scores = scoreRows(labelled(made(0.9)));
  expect(scores.skill).toMatchObject({ low: Number.NaN, isShown: true });
  expect(scores.auc).toMatchObject({ value: 1, low: Number.NaN });
});

test("a judge without a wrong row is not sure to have none", () => {
  const rows = Array.from({ length: 50 }, (_, at) => ({
    id: `r${at}`,
    p: at % 2,
    truth: at % 2 === 1,
  }));
  const { skill } = scoreRows(labelled(rows));
  expect(skill.value).toBe(1);
  expect(skill.low).toBeCloseTo(1 - 0.0714 / 0.25, 1);
});

test.each([20, 50, 150, 300])("%d answers that are all the base rate have no skill", (n) => {
  const rows = Array.from({ length: n }, (_, at) => ({
    id: `r${at}`,
    p: 0.1,
    truth: at % 10 === 0,
  }));
  expect(scoreRows(labelled(rows)).skill.isShown).toBe(false);
  expect(report(rows).verdict).toBe("worthless");
});

// Of 60 sheets of 50 labels, 2 % of them yes, an interval of the weighted labels shows the order in 6, a permutation test of the
// true log odds in 37. If the labels of a thread count as many, 4 of 60 worthless judges with threads of 10 seem useful.
test.each(verdictWorlds.filter(({ isUseful, size }) => isUseful || size === 10))(
  "the verdict on a judge is true: $name",
  (made) => {
    expect(playVerdicts(made, 60)).toBeLessThanOrEqual(made.limit);
  },
);
