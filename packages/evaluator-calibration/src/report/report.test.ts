import { expect, test } from "vitest";
import { seededRandom, shuffle } from "../math/random.ts";
import { joined, labelled, labelledWith, type Row, world } from "../testing/worlds.ts";
import { type QuestionReport, reportQuestion, toKeep } from "./question-report.ts";
import { fitRecalibration } from "./recalibrate.ts";
import { summarize } from "./sentence.ts";
import { checkThreshold } from "./threshold-check.ts";

function report(rows: readonly Row[], modelId?: string): QuestionReport {
  const join = joined(rows, modelId);
  return reportQuestion(labelled(rows, modelId), {
    maxRisk: 0.05,
    confidence: 0.95,
    onAverage: true,
    costs: { falseAct: 5, missedAct: 1 },
    seed: 1,
    counts: join.countsOf("scam"),
    groups: join.groups.list,
    labelers: join.labelers.list,
  });
}

test("probabilities that hold are said to hold, and their skill leads", () => {
  const found = report(world(3000, (p) => p));
  expect(found).toMatchObject({ verdict: "useful", curve: { isCalibrated: true } });
  expect(found.recalibration.heldOut?.after).toBeCloseTo(
    found.recalibration.heldOut?.before ?? 0,
    2,
  );
  expect(summarize(found, "mails")).toMatch(
    /^On your 3,000 labelled mails `scam` is worth 3\d % of the way from guessing to knowing, and its probabilities hold as far as these labels show\. No threshold can be promised from these labels yet\.$/,
  );
});

test("probabilities that are too high are named with their range, and recalibrated", () => {
  const found = report(world(3000, (p) => (p > 0.6 ? p - 0.2 : p)));
  expect(found.curve?.isCalibrated).toBe(false);
  expect(summarize(found, "mails")).toMatch(
    /, and its probabilities are too high between 0\.[5-7]\d* and (0\.[89]\d*|1)\./,
  );
  const { heldOut, recalibration } = found.recalibration;
  expect(heldOut?.after).toBeLessThan(heldOut?.before ?? 0);
  expect(Object.keys(toKeep([found]).recalibrations)).toEqual(["scam"]);
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
  expect(summarize(found, "mails")).toContain("worthless");
  expect(summarize(found, "mails")).toContain("look right on average does not make them useful");
});

test("a skill that two lucky rows make is not called useful", () => {
  const rows = Array.from({ length: 40 }, (_, index) => {
    return { id: `r${index}`, p: index < 2 ? 0.8 : 0.05, truth: index < 3 };
  });
  const found = report(rows);
  expect(found.scores.skill.value).toBeGreaterThan(0.5);
  expect(found.verdict).toBe("worthless");
  expect(summarize(found, "mails")).toContain("worthless as far as your 40 labelled mails show: 6");
});

test("under 30 rows there are scores, and no curve, threshold or promise", () => {
  const found = report(world(29, (p) => p));
  expect(found).toMatchObject({ curve: null, actions: [], n: 29 });
  expect(found.scores.skill.value).toBeGreaterThan(-1);
  expect(summarize(found, "mails")).toContain("fewer than 30 labels show no curve (29).");
});

test("rows of one truth show nothing, and no figure looks like one", () => {
  const found = report(world(40, () => 0));
  expect(found.verdict).toBe("one truth only");
  expect(summarize(found, "mails")).toContain("have one truth (no)");
});

test("a promise is locked with its labels, and none is given on labels of the model's own family", () => {
  const rows = world(2000, (p) => (p > 0.5 ? 0.99 : 0.1));
  const found = report(rows);
  const [yes] = found.actions;
  expect(yes).toMatchObject({ action: "yes", promised: { maxRisk: 0.05, confidence: 0.95 } });
  expect(yes?.promised?.threshold).toBeLessThan(0.6);
  expect(yes?.coverage).toBeGreaterThan(0.4);
  expect(summarize(found, "mails")).toMatch(
    /You may act on "yes" at 0\.\d\d and above, without asking: at most 5 % of that is wrong, with 95 % confidence\.$/,
  );
  const enough = rows.slice(0, 500);
  expect(report(enough).actions[0]?.promised).toMatchObject({ maxRisk: 0.05 });
  for (const labeler of ["maker/judge-8", "Judge-7", "maker/other"]) {
    const made = report(labelledWith(enough, () => ({ labeler })));
    expect(made.noPromise).toContain(labeler);
    expect(made.actions.every(({ promised }) => promised === null)).toBe(true);
  }
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

test("groups are judged from 30 rows on, adjusted for being many", () => {
  const groupOf = (index: number) => (index < 10 ? "few" : index % 2 === 0 ? "even" : "odd");
  const truths = world(500, (p) => p).map(({ id, p, truth }, index) => {
    return { id, p, truth: groupOf(index) === "odd" ? p > 0.1 : truth };
  });
  const rows = labelledWith(truths, (index) => ({ group: groupOf(index) }));
  const groups = new Map(report(rows).groups.map((group) => [group.group, group]));
  expect(groups.get("few")).toMatchObject({ n: 10, pValue: null });
  expect(groups.get("even")?.pValue).toBeGreaterThan(0.05);
  expect(groups.get("odd")?.pValue).toBeLessThan(0.001);
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

test("a recalibration is fitted by the weights of the labels: a weight is as good as so many rows", () => {
  const rows = world(400, (p) => (p > 0.6 ? p - 0.2 : p));
  const weighted = labelledWith(rows, (index) => ({ weight: index % 2 === 0 ? 3 : 1 }));
  const repeated = rows.flatMap(({ id, p, truth }, index) => {
    const copies = index % 2 === 0 ? ["a", "b", "c"] : ["a"];
    return copies.map((copy) => ({ id: `${id}${copy}`, p, truth }));
  });
  const [fit, same, other] = [weighted, repeated, rows].map((some) => {
    return fitRecalibration(labelled(some)).parameters as { intercept: number; slope: number };
  });
  expect(fit?.slope).toBeCloseTo(same?.slope ?? Number.NaN, 9);
  expect(fit?.intercept).toBeCloseTo(same?.intercept ?? Number.NaN, 9);
  expect(fit?.slope).not.toBeCloseTo(other?.slope ?? Number.NaN, 3);
});
