import { expect, test } from "vitest";
import { seededRandom, shuffle } from "../math/random.ts";
import { checkThreshold } from "../report/check-threshold.ts";
import { labelledWith, report } from "../testing/worlds.ts";
import { equalRows } from "./equal-rows.ts";
import { learnThenTest } from "./learn-then-test.ts";

const random = seededRandom(5);
const rows = Array.from({ length: 400 }, (_, at) => ({
  id: `mail ${at}`,
  sureness: (90 + Math.floor(11 * random())) / 100,
  wrong: Number(random() < 0.2),
  weight: [1, 2, 3, 8][Math.floor(4 * random())] as number,
}));

function countsOf(own: typeof rows, from = 0.51) {
  return equalRows(
    own.map(({ sureness }) => sureness),
    own.map(({ wrong }) => wrong),
    { weights: own.map(({ weight }) => weight), ids: own.map(({ id }) => id), from },
  );
}

test("weighted rows are thinned to whole rows, at each threshold as many as their weights say", () => {
  const { acted, actedWrong } = countsOf(rows);
  for (let at = 90; at <= 100; at += 1) {
    const above = rows.filter(({ sureness }) => Math.round(100 * sureness) >= at);
    const equal = above.reduce((sum, { weight }) => sum + weight / 8, 0);
    expect(acted[at]).toBe(Math.ceil(equal));
    expect(Number.isInteger(actedWrong[at])).toBe(true);
  }
});

test("neither the order of the rows nor a truth decides which rows are kept", () => {
  const counts = countsOf(rows);
  for (let round = 0; round < 20; round += 1) {
    expect(countsOf(shuffle([...rows], random))).toEqual(counts);
  }
  const opposite = countsOf(rows.map((row) => ({ ...row, wrong: 1 - row.wrong })));
  expect(opposite.wrong.map((wrong, at) => wrong + (counts.wrong[at] ?? 0))).toEqual(counts.rows);
});

test("weights that hardly differ leave out no more than one row", () => {
  const alike = rows.map((row, at) => ({ ...row, weight: at % 2 === 0 ? 1 : 1.001 }));
  expect(countsOf(alike).acted[90]).toBeGreaterThanOrEqual(399);
});

test("rows of many weights have promises, which are broken in few rounds", () => {
  const playRounds = (risk: number) => {
    const played = Array.from({ length: 300 }, (_, seed) => {
      const draw = seededRandom(seed + 1);
      const own = rows.map(() => Number(draw() < risk));
      return learnThenTest(
        rows.map(({ sureness }) => sureness),
        own,
        {
          maxRisk: 0.05,
          weights: rows.map(({ weight }) => weight),
          ids: rows.map((_, at) => `${seed} ${at}`),
        },
      );
    });
    return played.filter((found) => found !== null).length / 300;
  };
  expect(playRounds(0.0501)).toBeLessThanOrEqual(0.05);
  expect(playRounds(0.01)).toBeGreaterThan(0.5);
});

test("weighted labels of a report are thinned by their ids, in any order of the lines", () => {
  const sure = Array.from({ length: 300 }, (_, at) => ({
    id: `x-${at}`,
    p: 0.02,
    truth: at >= 60 && at % 20 === 0,
  }));
  const unsure = Array.from({ length: 60 }, (_, at) => ({ id: `u-${at}`, p: 0.9, truth: at > 5 }));
  const labels = [...sure, ...unsure];
  const promised = [labels, labels.toReversed()].map((own) => {
    const weighted = labelledWith(own, (at) => {
      return { weight: Number(own[at]?.id.slice(2)) < 60 ? 8 : 1 };
    });
    return report(weighted).actions.find(({ action }) => action === "no")?.promised;
  });
  // Of 60 labels of weight 8 and 240 of weight 1, 90 are kept, and none of the 12 wrong ones, which would be 1.5 by their mean.
  expect(promised[0]).toMatchObject({ threshold: 0.98, n: 90, wrong: 0 });
  expect(promised[1]).toEqual(promised[0]);
});

test("a check thins weighted labels as a promise does", () => {
  const ids = Array.from({ length: 300 }, (_, at) => `x-${at}`);
  const labels = {
    ids,
    p: ids.map(() => 0.98),
    cameTrue: ids.map((_, at) => Number(at < 60 || at % 20 > 0)),
    weights: ids.map((_, at) => (at < 60 ? 8 : 1)),
  };
  const promise = { question: "scam", action: "yes", threshold: 0.9, n: 90, wrong: 0 } as const;
  const locked = { ...promise, maxRisk: 0.05, confidence: 0.95 };
  expect(checkThreshold(locked, labels)).toMatchObject({ n: 90, wrong: 0, verdict: "holds" });
  const unnamed = checkThreshold(locked, { ...labels, ids: undefined });
  expect(unnamed).toMatchObject({ n: 90, wrong: 2, verdict: "not enough labels" });
});
