import { expect, test } from "vitest";
import { AnswerTable } from "../input/answer-table.ts";
import { LabelJoin } from "../input/join-labels.ts";
import { seededRandom, shuffle } from "../math/random.ts";
import { answersOf, asked, type Row, world } from "../testing/worlds.ts";
import { toLabelledRows } from "./labelled-rows.ts";
import { parsePromisePlan, type PromisePlan, promisePool, replayPlan } from "./promise-plan.ts";
import { reportQuestions } from "./question-report.ts";

interface PlannedLabel {
  readonly id: string;
  readonly truth: boolean | null;
  readonly draw?: object;
  readonly labeler?: string;
}

/** A tenth of the records are surely yes, the others no; both are right in 499 of 500. */
const rows = world(
  3000,
  (p) => (p > 0.5 ? 0.998 : 0.002),
  (u) => (u < 0.1 ? 0.9 + u : 0.1 * u),
);
const truths = new Map(rows.map(({ id, truth }) => [id, truth]));
const table = answersOf(rows);
const pool = promisePool(theOne(table.columns));

function theOne<TItem>(items: readonly TItem[]): TItem {
  const [item] = items;
  if (item === undefined) throw new Error("there is none");
  return item;
}

function planFor(...actions: PromisePlan["actions"][number]["action"][]): PromisePlan {
  return {
    version: 1,
    actions: actions.map((action) => ({ question: "scam", action, pool: pool.hash })),
    maxRisk: 0.05,
    confidence: 0.95,
    seed: 7,
  };
}

function joinOf(labels: readonly PlannedLabel[]): LabelJoin {
  const join = new LabelJoin(table);
  for (const [line, value] of labels.entries()) join.add({ line, value }, "labels");
  return join;
}

function replayed(plan: PromisePlan, labels: readonly PlannedLabel[], at = 0) {
  return theOne(replayPlan(plan, joinOf(labels), { file: "plan" }).slice(at));
}

/** Returns the labels of a person who labels until the first promise. */
function labelled(plan: PromisePlan, at = 0): PlannedLabel[] {
  const labels: PlannedLabel[] = [];
  for (;;) {
    const planned = replayed(plan, labels, at);
    const next = planned.next();
    if (next === null || planned.draw.state.promised !== null) return labels;
    labels.push({ ...next, truth: truths.get(next.id) ?? null });
  }
}

const yes = planFor("yes");
const labels = labelled(yes);
const promised = replayed(yes, labels).draw.state;

test("labels of a plan give a promise, the same in any order", () => {
  expect(promised.promised?.n).toBeGreaterThan(50);
  expect(labels.length).toBeLessThan(250);
  const shuffled = shuffle([...labels], seededRandom(1));
  expect(replayed(yes, shuffled).draw.state).toEqual(promised);
  expect(labels[0]).toMatchObject({
    draw: { plan: expect.stringMatching(/^[\da-f]{16}$/), at: expect.any(Number) },
  });
});

test("an edited label and a skip count as wrong", () => {
  for (const truth of [false, null]) {
    const edits = truth === null ? { truth, skipped: true } : { truth };
    const edited = labels.map((label, at) => Object.assign({}, label, at < 2 && edits));
    const { state } = replayed(yes, edited).draw;
    expect(state).toMatchObject({ promised: null, labelled: labels.length });
    expect(state.wrong).toBeGreaterThanOrEqual(2);
  }
});

test("the hash of the pool changes with a printed value, an id and the model, not with the order", () => {
  const hashOf = (some: readonly Row[], modelId?: string) =>
    promisePool(theOne(answersOf(some, modelId).columns)).hash;
  expect(hashOf(rows.toReversed())).toBe(pool.hash);
  const [first, ...others] = rows as [Row, ...Row[]];
  expect(hashOf(others)).not.toBe(pool.hash);
  expect(hashOf([{ ...first, p: first.p + 0.01 }, ...others])).not.toBe(pool.hash);
  expect(hashOf(rows, "maker/judge-8")).not.toBe(pool.hash);
});

test("a plan of version 2 is of the states too, and takes one label of each; one of version 1 is read as before", () => {
  const columnWith = (stateOf: (index: number) => object) => {
    const answers = new AnswerTable();
    const questions = { scam: { type: "boolean", instructions: "Is it a scam?" } } as const;
    for (const [index, { id, p }] of rows.entries()) {
      const evaluation = { answers: { scam: { type: "boolean", probability: p } }, modelId: "m" };
      const entry = { id, questions, wire: "gateway", state: stateOf(index), evaluation };
      answers.addEvaluation(entry, { file: "journal" });
    }
    return answers;
  };
  const byNumber = columnWith((index) => ({ number: index }));
  const byPair = columnWith((index) => ({ number: index - (index % 2) }));
  const hashOf = ({ columns }: AnswerTable, version: 1 | 2) =>
    promisePool(theOne(columns), version).hash;
  expect(hashOf(byNumber, 2)).not.toBe(hashOf(byPair, 2));
  expect(hashOf(byNumber, 1)).toBe(hashOf(byPair, 1));
  const countsOf = (version: 1 | 2) => {
    const plan = { ...planFor("no"), version };
    const action = { question: "scam", action: "no", pool: hashOf(byPair, version) } as const;
    const join = new LabelJoin(byPair);
    const [planned] = replayPlan({ ...plan, actions: [action] }, join, { file: "plan" });
    return [planned?.draw.regionSize, planned?.draw.copies];
  };
  const [region, none] = countsOf(1);
  expect(none).toBe(0);
  expect(countsOf(2)).toEqual([region, expect.any(Number)]);
  // Nine of ten records may be acted on, so most pairs are two of them.
  expect(countsOf(2)[1]).toBeGreaterThan(0.3 * (region ?? Infinity));
});

test("actions of one plan share its level, and each has its own labels", () => {
  const both = planFor("yes", "no");
  const all = [...labelled(both, 0), ...labelled(both, 1)];
  for (const at of [0, 1]) {
    expect(replayed(both, all, at)).toMatchObject({ level: 0.025 });
    expect(replayed(both, all, at).draw.state.promised).not.toBeNull();
  }
});

test("two actions of a plan take more labels each than one alone", () => {
  expect(labelled(planFor("yes", "no")).length).toBeGreaterThan(labels.length);
});

test("the coverage of a threshold has the records at it", () => {
  const covered = rows.filter(({ p }) => p >= 0.95);
  expect(rows.filter(({ p }) => p === 0.95)).not.toEqual([]);
  expect(replayed(yes, []).coverageAt(0.95)).toBeCloseTo(covered.length / rows.length, 9);
});

test("a plan for other answers, and labels of another plan, are refused", () => {
  const [action] = yes.actions;
  const other = { ...yes, actions: [{ ...theOne([action]), pool: "other" }] } as PromisePlan;
  expect(() => replayed(other, [])).toThrow("was planned for other answers");
  expect(() => replayed(planFor("no"), labels)).toThrow("draw is of another plan; keep");
});

test("a report takes the promise of a plan, and its labels enter no score", () => {
  const random = rows.slice(0, 400).map(({ id, truth }) => ({ id, truth }));
  const reportOf = (some: readonly PlannedLabel[], options = {}) => {
    const join = joinOf(some);
    const planned = join.plans.size === 0 ? [] : replayPlan(yes, join, { file: "plan" });
    const joined = join.columns.map((column) => toLabelledRows(column));
    const bare = join.drawn.map((drawn) => toLabelledRows(drawn, () => false));
    const questions = joined.length === 0 ? bare : joined;
    return theOne(reportQuestions(questions, { ...asked, hasGroups: false, planned, ...options }));
  };
  const plain = reportOf(random);
  const planned = reportOf([...random, ...labels]);
  expect(planned.scores).toEqual(plain.scores);
  expect(planned.counts).toMatchObject({ labelled: 400, drawn: labels.length });
  const [act, other] = planned.actions;
  expect(act).toMatchObject({
    action: "yes",
    promised: { method: "sequential", level: 0.05, ...promised.promised },
    found: { value: expect.any(Number) },
  });
  // The plan has the whole level.
  expect(plain.actions[1]?.promised).not.toBeNull();
  expect(other).toMatchObject({ action: "no", promised: null });
  const shared = reportOf([...random, ...labels], { confidence: 0.9 });
  expect(shared.actions.map((action) => action.promised?.level)).toEqual([
    0.05,
    expect.closeTo(0.05, 9),
  ]);
  const alone = reportOf([...random, ...labels], { actions: [{ question: "scam", action: "no" }] });
  expect(alone.actions).toMatchObject([{ action: "no", promised: { level: 0.05 } }]);
  expect(reportOf(labels)).toMatchObject({
    n: 0,
    actions: [{ promised: { threshold: promised.promised?.threshold }, found: null }],
  });
  const ofModel = labels.map((label) => Object.assign({ labeler: "maker/judge-8" }, label));
  expect(reportOf(ofModel).actions).toMatchObject([{ promised: null }]);
});

test("a file that is no plan is refused with its field", () => {
  expect(parsePromisePlan(JSON.stringify(yes))).toEqual(yes);
  expect(() => parsePromisePlan("{")).toThrow("is not JSON");
  expect(() => parsePromisePlan(JSON.stringify({ ...yes, actions: [] }))).toThrow(
    "is not a plan of a promise: actions",
  );
});

test("a promise about exactly these records names those that may be acted on, without those that a label contradicts", () => {
  const exact = { ...planFor("no"), of: "these" as const };
  const planned = replayed(exact, []);
  const { draw } = planned;
  const drawn: PlannedLabel[] = [];
  while (draw.state.promised === null) {
    const next = planned.next() as PlannedLabel;
    draw.add(pool.indexes.get(pool.column.rowOf(next.id) as number) as number, false);
    drawn.push({ ...next, truth: false });
  }
  const { threshold } = draw.state.promised;
  const theseOf = (labels: readonly PlannedLabel[]) => {
    const { promised } = replayed(exact, labels).draw.state;
    const counts = { unlabelled: promised?.unlabelled ?? 0, mostWrong: promised?.mostWrong ?? 0 };
    return replayed(exact, labels).theseAt(threshold, counts);
  };
  const before = theseOf(drawn);
  const records = before?.records ?? [];
  const ids = new Set(drawn.map(({ id }) => id));
  const others = rows.filter(({ id, p }) => p < 1 - threshold && !ids.has(id));
  // These were labelled for another purpose, one as a mistake and one as no one can tell.
  const other = (truth: boolean | null) => ({ truth, ...(truth === null && { skipped: true }) });
  const [one, two, ...more] = others.map(({ id }) => id);
  const plain = [Object.assign(other(true), { id: `${one}` }), { ...other(null), id: `${two}` }];
  const after = theseOf([...drawn, ...plain]);
  expect(after).toMatchObject({
    unlabelled: (before?.unlabelled ?? 0) - 2,
    mostWrong: (before?.mostWrong ?? 0) - 2,
  });
  expect(records.filter((key) => !after?.records.includes(key))).toHaveLength(2);
  const mistakes = more.slice(0, (before?.mostWrong ?? 0) + 1).map((id) => ({ id, truth: true }));
  expect(theseOf([...drawn, ...mistakes])).toBeNull();
  const last = Object.assign({}, drawn.at(-1), { truth: true });
  expect(theseOf([...drawn.slice(0, -1), last])?.records).toHaveLength(records.length - 1);
});
