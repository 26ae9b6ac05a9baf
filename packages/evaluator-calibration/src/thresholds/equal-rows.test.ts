import { expect, test } from "vitest";
import { seededRandom, shuffle } from "../math/random.ts";
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
