import { expect, test } from "vitest";
import {
  asked,
  columnIn,
  joined,
  labelled,
  labelledWith,
  report,
  world,
} from "../testing/worlds.ts";
import { type QuestionReport, reportQuestions } from "./question-report.ts";
import { checkThreshold } from "./check-threshold.ts";
import { toLabelledRows } from "./labelled-rows.ts";

test("a promise is locked with its labels, and none is given on labels of the model's own family", () => {
  const rows = world(2000, (p) => (p > 0.5 ? 1 : 0.1));
  const found = report(rows);
  const [yes] = found.actions;
  expect(yes).toMatchObject({ action: "yes", promised: { maxRisk: 0.05, confidence: 0.95 } });
  expect(yes?.promised?.threshold).toBeLessThan(0.6);
  expect(yes?.coverage).toBeGreaterThan(0.4);
  const enough = rows.slice(0, 800);
  expect(report(enough).actions[0]?.promised).toMatchObject({ maxRisk: 0.05 });
  for (const labeler of ["maker/judge-8", "Judge-7", "maker/other"]) {
    const made = report(labelledWith(enough, () => ({ labeler })));
    expect(made.noPromise).toContain(labeler);
    expect(made.actions.every(({ promised }) => promised === null)).toBe(true);
  }
});

test("answers that are worthless permit nothing, although always saying no is seldom wrong", () => {
  const rows = world(2000, () => 0.01);
  const found = report(rows);
  expect(found.verdict).toBe("worthless");
  expect(found.actions.map(({ action }) => action)).toEqual(["yes", "no"]);
  for (const action of found.actions) {
    expect(action).toMatchObject({ promised: null, smallest: null, onAverage: null, cost: null });
  }
  const { always, wrong } = found.scores.constant;
  const yes = rows.filter(({ truth }) => truth).length;
  expect([always, wrong.value]).toEqual(["no", yes / 2000]);
  expect(wrong.low).toBeLessThan(0.01);
  expect(wrong.high).toBeGreaterThan(0.01);
});

test("no threshold crosses to the other side of 0.5, on average and by costs included", () => {
  const rows = world(6000, (p) => (p > 0.3 ? 0.97 : 0.02));
  const cheap = { ...asked, maxRisk: 0.4, costs: { falseAct: 1, missedAct: 50 } };
  const found = report(rows, undefined, cheap);
  for (const { promised, onAverage, cost } of found.actions) {
    expect(promised?.threshold).toBe(0.51);
    expect(onAverage).toBeGreaterThanOrEqual(0.51);
    expect(cost?.threshold).toBeGreaterThanOrEqual(0.51);
  }
});

test("an action shows what it finds, what it lets through, and the rates at 0.5", () => {
  const row = (p: number, truth: boolean, index: number) => ({
    id: `${p}-${truth}-${index}`,
    p,
    truth,
  });
  const many = (n: number, p: number, truth: boolean) =>
    Array.from({ length: n }, (_, index) => row(p, truth, index));
  const rows = [
    many(200, 0.97, true),
    many(60, 0.6, true),
    many(40, 0.02, true),
    many(3, 0.97, false),
    many(97, 0.6, false),
    many(1600, 0.02, false),
  ].flat();
  const found = report(rows);
  const [yes, no] = found.actions;
  expect(yes).toMatchObject({ promised: { threshold: 0.97, n: 203, wrong: 3 }, passed: null });
  expect(yes?.found?.value).toBeCloseTo(200 / 300, 12);
  expect(no).toMatchObject({ promised: { threshold: 0.98, n: 1640, wrong: 40 }, found: null });
  expect(no?.passed?.value).toBeCloseTo(40 / 300, 12);
  expect(no?.passed?.low).toBeLessThan(40 / 300);
  expect(found.tpr?.value).toBeCloseTo(260 / 300, 12);
  expect(found.tnr?.value).toBeCloseTo(1600 / 1700, 12);
});

test("all actions of a report share the level; one action asked for keeps it whole", () => {
  const rows = world(2000, (p) => (p > 0.5 ? 1 : 0.1));
  const join = joined(rows);
  const scam = toLabelledRows(columnIn(join));
  const levelsOf = (reports: readonly QuestionReport[]) =>
    reports.map(({ actions }) => actions.map(({ promised }) => promised?.level ?? null));
  expect(levelsOf(reportQuestions([scam, scam], asked))).toEqual([
    [expect.closeTo(0.0125, 12), null],
    [expect.closeTo(0.0125 + 0.0125 / 3, 12), null],
  ]);
  const one = { ...asked, actions: [{ question: "scam", action: "yes" } as const] };
  const [alone] = reportQuestions([scam, scam].slice(1), one);
  expect(alone?.actions).toMatchObject([{ action: "yes", promised: { method: "fixed" } }]);
  expect(alone?.actions[0]?.promised?.level).toBeCloseTo(0.05, 12);
  expect(alone?.needed.forPromiseWithoutErrors).toBe(59);
  expect(report(rows).needed.forPromiseWithoutErrors).toBe(72);
});

test("eight seeds promise the same threshold, with weights too", () => {
  const rows = world(1500, (p) => p ** 3 / (p ** 3 + (1 - p) ** 3));
  const weighted = labelledWith(rows, (index) => ({ weight: 1 + (index % 3) / 10 }));
  for (const some of [rows, weighted]) {
    const promised = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => {
      const { actions, recalibration } = report(some, undefined, { ...asked, seed });
      return { recalibration, promised: actions.map((action) => action.promised) };
    });
    expect(promised[0]?.promised[0]?.threshold).toBeLessThan(0.9);
    for (const others of promised) expect(others).toEqual(promised[0]);
  }
});

test("a locked threshold holds, is broken, or has too few labels", () => {
  const locked = {
    question: "scam",
    action: "yes",
    threshold: 0.83,
    maxRisk: 0.05,
    confidence: 0.95,
    n: 100,
    wrong: 1,
  } as const;
  const rows = (n: number, wrong: number) =>
    labelled(
      Array.from({ length: n }, (_, index) => ({
        id: `r${index}`,
        p: index % 2 === 0 ? 0.83 : 0.9,
        truth: index >= wrong,
      })),
    );
  expect(checkThreshold(locked, rows(200, 2))).toMatchObject({
    verdict: "holds",
    n: 200,
    wrong: 2,
  });
  expect(checkThreshold(locked, rows(200, 30)).verdict).toBe("broken");
  expect(checkThreshold(locked, rows(40, 1)).verdict).toBe("not enough labels");
  const no = { ...locked, action: "no", threshold: 0.17 } as const;
  expect(checkThreshold(no, rows(200, 2))).toMatchObject({ n: 100, wrong: 99 });
});
