import { describe, expect, test } from "vitest";
import { actKey, isAbout } from "../act-keys.ts";
import { createPromiseDraw } from "../index.ts";
import { stateHash } from "../math/random.ts";
import { label } from "../testing/label.ts";

const asked = { action: "yes", maxRisk: 0.05, confidence: 0.95, seed: 7 } as const;

describe("a promise about exactly these records", () => {
  const exact = { ...asked, isExact: true };
  const alike = new Float64Array(300).fill(0.99);

  test("67 right labels of 300 promise at most 11 wrong among the other 233, which is within 5 %", () => {
    const draw = createPromiseDraw(alike, exact);
    label(draw, 66);
    expect(draw.state).toMatchObject({ promised: null, more: 1 });
    label(draw, 1);
    const promise = { threshold: 0.99, n: 67, wrong: 0, unlabelled: 233, mostWrong: 11 };
    expect(draw.state.promised).toEqual(promise);
    expect(11 / 233).toBeLessThanOrEqual(0.05);
  });

  test("two actions share the level, and take more labels", () => {
    const draw = createPromiseDraw(alike, { ...exact, shares: 2 });
    label(draw, 79);
    expect(draw.state.promised).toBeNull();
  });

  test("the promise ends if so many are labelled that 5 % of the rest are fewer than may be wrong", () => {
    const draw = createPromiseDraw(alike, exact);
    label(draw, 80);
    expect(draw.state.promised).toMatchObject({ unlabelled: 220, mostWrong: 11 });
    label(draw, 1);
    expect(draw.state.promised).toBeNull();
  });

  test("more wrong labels than the promise allows withdraw it", () => {
    const draw = createPromiseDraw(alike, exact);
    label(draw, 75);
    label(draw, 40, () => true);
    expect(draw.state.promised).toBeNull();
    expect(draw.state.withdrawn).toMatchObject({ threshold: 0.99, since: expect.any(Number) });
  });

  test("a label shows both records of its state, so 600 of two each take as many as 300", () => {
    const copies = Array.from({ length: 600 }, (_, index) => `state ${index >> 1}`);
    const draw = createPromiseDraw(new Float64Array(600).fill(0.99), { ...exact, copies });
    label(draw, 66);
    expect(draw.state.promised).toBeNull();
    label(draw, 1);
    expect(draw.state.promised).toMatchObject({ n: 67, wrong: 0, unlabelled: 466, mostWrong: 23 });
  });

  test("50 states of two records are too few, whatever their labels are", () => {
    const copies = Array.from({ length: 100 }, (_, index) => `state ${index >> 1}`);
    expect(createPromiseDraw(alike.slice(0, 100), { ...exact, copies }).regionSize).toBe(0);
  });

  test("so few records that each label saves none have no plan, and too many are refused", () => {
    expect(createPromiseDraw(alike.slice(0, 40), exact).regionSize).toBe(0);
    expect(() => createPromiseDraw(new Float64Array(10_001).fill(0.99), exact)).toThrow(
      "at most 10000",
    );
  });
});

test("a promise about exactly some records is about no others, and if it names states about no other state", () => {
  const act = { act: "yes", sureness: 0.99 };
  const locked = { question: "q", action: "yes", threshold: 0.9, n: 73, wrong: 0 } as const;
  const bound = { ...locked, maxRisk: 0.05, confidence: 0.95 };
  const isAboutEach = (hasStates: boolean, known: string | null) => {
    const records = [actKey({ ...act, id: "known", state: known })];
    const promise = { ...bound, these: { unlabelled: 1, mostWrong: 0, records, hasStates } };
    const asked = [
      ["known", { text: "a" }],
      ["known", { text: "b" }],
      ["known", undefined],
      ["other", { text: "a" }],
      [undefined, { text: "a" }],
    ] as const;
    return asked.map(([id, state]) => isAbout(promise, { ...act, id, state }));
  };
  expect(isAboutEach(false, null)).toEqual([true, true, true, false, false]);
  expect(isAboutEach(true, stateHash({ text: "a" }))).toEqual([true, false, false, false, false]);
});
