import { expect, test } from "vitest";
import { createPromiseDraw } from "../index.ts";
import { seededRandom, shuffle } from "../math/random.ts";
import { label } from "../testing/label.ts";

const asked = { action: "yes", maxRisk: 0.05, confidence: 0.95, seed: 7 } as const;
/** 400 records at each of 0.99, 0.97, 0.95 and 0.60. */
const printed = Array.from({ length: 1600 }, (_, i) => [0.99, 0.97, 0.95, 0.6][i % 4] as number);

test("a label counts for all records with the same state, which are drawn once, and is one label", () => {
  const copies = printed.map((_, index) => String(index - (index % 40) + (index % 4)));
  const draw = createPromiseDraw(printed, { ...asked, copies });
  expect(draw.copies).toBe(1200 - 120);
  const labelled = label(draw, 10);
  expect(new Set(labelled.map((index) => copies[index])).size).toBe(10);
  expect(draw.state).toMatchObject({ labelled: 10, wrong: 0 });
  const all = label(draw, 120);
  expect(all.length).toBe(110);
  expect(draw.state.promised).toMatchObject({ threshold: 0.95, wrong: 0, n: 120 });
  const last = all.at(-1) as number;
  draw.add(last, true);
  expect(draw.state).toMatchObject({ labelled: 120, wrong: 1 });
  expect(printed.filter((_, index) => draw.labelOf(index) === true)).toHaveLength(10);
});

test("a promise about records like these takes as many different states as labels", () => {
  const copies = printed.map((_, index) => String(index - (index % 80) + (index % 4)));
  const draw = createPromiseDraw(printed, { ...asked, copies });
  expect(draw.state.more).toBeNull();
  expect(label(draw, 100)).toHaveLength(60);
  expect(draw.state).toMatchObject({ labelled: 60, wrong: 0, promised: null, more: null });
});

test("74 right labels at the threshold that the printed values choose promise it, and more labels lower it", () => {
  const draw = createPromiseDraw(printed, asked);
  expect(draw.regionSize).toBe(1200);
  expect(draw.state).toEqual({
    labelled: 0,
    wrong: 0,
    promised: null,
    withdrawn: null,
    more: expect.any(Number),
  });
  label(draw, 73);
  expect(draw.state).toMatchObject({ promised: null, more: 1 });
  expect(draw.from).toBe(0.99);
  label(draw, 1);
  expect(draw.state.promised).toEqual({ threshold: 0.99, n: 74, wrong: 0 });
  label(draw, 500);
  expect(draw.state).toMatchObject({ labelled: 574, promised: { threshold: 0.95 }, more: null });
});

test("an action that shares the level takes more labels", () => {
  const draw = createPromiseDraw(printed, { ...asked, shares: 2 });
  label(draw, 87);
  expect(draw.state.promised).toBeNull();
  label(draw, 1);
  expect(draw.state.promised?.threshold).toBe(0.99);
});

test("in a pool of fewer than 500 records all starts have the same part of the level", () => {
  const draw = createPromiseDraw(printed.slice(0, 480), asked);
  label(draw, 105);
  expect(draw.state.promised).toBeNull();
  label(draw, 1);
  expect(draw.state.promised).toEqual({ threshold: 0.99, n: 99, wrong: 0 });
});

test("wrong labels take more, and as many wrong ones as may be show no promise", () => {
  const draw = createPromiseDraw(printed, asked);
  label(draw, 400, (index) => index % 60 === 1);
  expect(draw.state.promised).not.toBeNull();
  const hopeless = createPromiseDraw(printed, asked);
  label(hopeless, 1200, (index) => index % 20 < 4 && index % 3 === 0);
  expect(hopeless.state).toMatchObject({ promised: null, labelled: 1200 });
});

test("labels that contradict a promise withdraw it, and the state says since which label", () => {
  const draw = createPromiseDraw(new Float64Array(400).fill(0.99), asked);
  label(draw, 99);
  let count = 0;
  label(draw, 60, () => (count += 1) % 2 === 0);
  const { promised, withdrawn } = draw.state;
  expect(promised).toBeNull();
  expect(withdrawn).toMatchObject({ threshold: 0.99, since: expect.any(Number) });
  expect(withdrawn?.since).toBeGreaterThan(99);
  expect(withdrawn?.since).toBeLessThan(120);
});

test("a higher threshold keeps its promise if the labels below it are wrong", () => {
  const draw = createPromiseDraw(printed, asked);
  label(draw, 600);
  expect(draw.state.promised?.threshold).toBe(0.95);
  label(draw, 400, (index) => printed[index] === 0.95);
  expect(draw.state.withdrawn?.threshold).toBe(0.95);
  expect(draw.state.promised?.threshold).toBe(0.97);
});

test("no record is drawn twice, and only those that may be acted on", () => {
  const drawn = label(createPromiseDraw(printed, asked), Infinity);
  expect(new Set(drawn).size).toBe(1200);
  expect(drawn.every((index) => (printed[index] as number) > 0.9)).toBe(true);
  const open = createPromiseDraw(printed, asked);
  const sheet = Array.from({ length: 1200 }, () => open.next());
  expect(new Set(sheet).size).toBe(1200);
  expect(open.next()).toBeNull();
});

test("the order in which labels are made changes nothing", () => {
  const first = createPromiseDraw(printed, asked);
  const isWrong = (index: number) => index % 70 === 0;
  const drawn = label(first, 350, isWrong);
  const again = createPromiseDraw(printed, asked);
  for (const index of shuffle([...drawn], seededRandom(3))) again.add(index, isWrong(index));
  expect(again.state).toEqual(first.state);
  expect(again.next()).toBe(first.next());
});

test("a corrected label counts as if it had been made so", () => {
  const isWrong = (index: number) => index % 70 === 0;
  const right = createPromiseDraw(printed, asked);
  const corrected = createPromiseDraw(printed, asked);
  const drawn = label(right, 300, isWrong);
  for (const index of drawn) corrected.add(index, !isWrong(index));
  expect(corrected.state.promised).toBeNull();
  for (const index of drawn) corrected.add(index, isWrong(index));
  expect(corrected.state).toEqual(right.state);
});

test("a no is drawn among records printed with a low probability of yes", () => {
  const low = printed.map((p) => Math.round(100 * (1 - p)) / 100);
  const draw = createPromiseDraw(low, { ...asked, action: "no" });
  const [first = -1] = label(draw, 99);
  expect(low[first]).toBe(0.01);
  expect(draw.state.promised?.threshold).toBe(0.99);
});

test("without a record that may be acted on, there is nothing to draw", () => {
  const draw = createPromiseDraw([0.8, 0.6], asked);
  expect([draw.regionSize, draw.next(), draw.from]).toEqual([0, null, null]);
  expect(draw.state).toEqual({
    labelled: 0,
    wrong: 0,
    promised: null,
    withdrawn: null,
    more: null,
  });
});

test.each([
  [[0.5, Number.NaN], {}, "printed[1] is NaN; it must be a number from 0 to 1."],
  [[0.5], { maxRisk: 0 }, "maxRisk is 0; it must be above 0 and below 1."],
  [[0.5], { confidence: 1 }, "confidence is 1; it must be above 0 and below 1."],
  [[0.5], { shares: 0.5 }, "shares is 0.5; it must be a count of actions."],
])("%j with %j is refused", (pool, options, message) => {
  expect(() => createPromiseDraw(pool, { ...asked, ...options })).toThrow(new RangeError(message));
});

test.each([3, 1600, -1, 0.5])(
  "a label of record %d, which may not be acted on, is refused",
  (index) => {
    const draw = createPromiseDraw(printed, asked);
    expect(() => draw.add(index, false)).toThrow(
      `index ${index} is not a record that may be acted on.`,
    );
  },
);
