import { expect, test } from "vitest";
import type { QuestionKind } from "../kinds.ts";
import { AnswerTable } from "./answer-table.ts";
import { LabelJoin } from "./join-labels.ts";
import { basisOf } from "./answer-source.ts";

function tableOf(lines: readonly object[], options = {}) {
  const table = new AnswerTable(options);
  for (const [index, value] of lines.entries()) {
    table.addRecord({ line: index + 1, value }, "answers");
  }
  return table;
}

function joinOf(table: AnswerTable, labels: readonly object[], options = {}) {
  const join = new LabelJoin(table, options);
  for (const [index, value] of labels.entries()) join.add({ line: index + 1, value }, "labels");
  return join;
}

const scam = (id: string, probability: number, more: object = {}) => {
  return { id, question: "scam", probability, modelId: "m/one", ...more };
};

test("labels of every spelling join with the answers of their record", () => {
  const table = tableOf([
    scam("a", 0.1),
    scam("b", 0.2),
    { id: 3, question: "tier", probabilities: { nano: 0.6, fast: 0.4 } },
    { id: 3, question: "level", probabilities: { "0": 0.5, "1": 0.5 } },
  ]);
  const join = joinOf(table, [
    { id: "a", question: "scam", truth: "Yes" },
    { id: "b", question: "scam", truth: 0, weight: 2, group: "work", labeler: "ada" },
    { id: 3, question: "tier", truth: "fast" },
    { id: "3", question: "level", truth: "1" },
    { id: "x", question: "scam", truth: null, drawn: 0.5 },
  ]);
  const found = join.columns.map(({ column, rows, truth }) => [column.kind, rows, truth]);
  expect(found).toEqual([
    ["boolean", [0, 1], [1, 0]],
    ["choice", [0], [1]],
    ["score", [0], [1]],
  ]);
  expect(join.columns[0]).toMatchObject({ weights: [1, 2], groupOf: [-1, 0], labelerOf: [-1, 0] });
  expect([join.groups.list, join.labelers.list, join.blank]).toEqual([["work"], ["ada"], 1]);
});

test("a label weighs the inverse of its probability of being drawn", () => {
  const join = joinOf(tableOf([scam("a", 0.1)]), [{ id: "a", truth: true, drawn: 0.25 }]);
  expect(join.columns[0]?.weights).toEqual([4]);
});

test("nothing is dropped without being counted", () => {
  const table = tableOf([
    scam("a", 0.1),
    scam("b", 0.2),
    { id: "c", question: "scam", error: "429" },
  ]);
  const labels = ["a", "c", "z"].map((id) => ({ id, truth: true }));
  expect(() => joinOf(table, labels)).toThrow('labels line 3: id "z" has no answer; use --allow');
  const counts = joinOf(table, [...labels, ...labels], { allowUnknown: true, last: true });
  expect(counts.countsOf("scam")).toEqual({
    labelled: 3,
    drawn: 0,
    answered: 2,
    joined: 1,
    skipped: 0,
    tied: 0,
    labelledWithoutAnswer: 1,
    answeredWithoutLabel: 1,
    repeated: 3,
    unknown: 1,
  });
});

test("a second label or answer is an error, unless the last is to count", () => {
  const rows = [scam("a", 0.1), scam("a", 0.9)];
  expect(() => tableOf(rows)).toThrow('answers line 2: record "a" has a second answer to "scam"');
  const table = tableOf(rows, { last: true });
  expect([...(table.columns[0]?.values ?? [])]).toEqual([0.9]);
  const labels = [
    { id: "a", truth: true },
    { id: "a", truth: false },
  ];
  expect(() => joinOf(table, labels)).toThrow(
    'labels line 2: record "a" is labelled a second time',
  );
  expect(joinOf(table, labels, { last: true }).columns[0]?.truth).toEqual([0]);
});

test.each([
  [
    { id: "a", truth: "maybe" },
    'truth of "scam" is "maybe"; it must be true or false, 1 or 0, yes or no',
  ],
  [{ id: "a", question: "scam", truth: 2 }, "it must be true or false"],
  [{ id: "a", question: "spam", truth: 1 }, 'question is "spam"; it must be one of "scam"'],
  [{ id: "", truth: 1 }, 'id is ""; each record needs its own id'],
  [{ id: "a" }, "has no truth"],
  [{ id: "a", truth: 1, weight: "0,5" }, 'weight is "0,5"; it must be a number above 0: write 0.5'],
  [{ id: "a", truth: 1, weight: -1 }, "weight is -1; it must be a number above 0"],
  [{ id: "a", truth: 1, drawn: 1.5 }, "drawn is 1.5; it must be a probability above 0"],
  [{ id: "a", truth: 1, group: {} }, "group is {}; it must be a text"],
  [["a", 1], "the label is no JSON object"],
])("the label %j is refused: %s", (label, message) => {
  const call = () => joinOf(tableOf([scam("a", 0.1)]), [label]);
  expect(call).toThrow(message);
  expect(call).toThrow("labels line 1: ");
});

test("options and levels that are none are named with those there are", () => {
  const table = tableOf([
    { id: "a", question: "tier", probabilities: { nano: 0.6, fast: 0.4 } },
    { id: "a", question: "level", probabilities: { "0": 0.5, "1": 0.5 } },
  ]);
  const join = (question: string, truth: unknown) => () =>
    joinOf(table, [{ id: "a", question, truth }]);
  expect(join("tier", "slow")).toThrow('it must be one of "nano", "fast"');
  expect(join("level", 2)).toThrow("it must be a level from 0 to 1");
  expect(() => joinOf(table, [{ id: "a", truth: 1 }])).toThrow('no question; add one of "tier"');
});

test.each([
  [
    { id: "a", question: "scam", probability: 1.2 },
    'probability of "scam" is 1.2; it must be a number from 0 to 1',
  ],
  [{ id: "a", question: "scam", probability: "half" }, 'probability of "scam" is "half"'],
  [
    { id: "a", question: "tier", probabilities: { a: 0.5, b: 0.2 } },
    'the sum of the probabilities of "tier" is 0.7; it must be 1',
  ],
  [
    { id: "a", question: "tier", probabilities: { a: 0.2, b: -0.1 } },
    'probabilities.b of "tier" is -0.1; it must be a number from 0 to 1',
  ],
  [{ id: "a", question: "scam" }, "has neither probability (yes or no) nor probabilities"],
  [{ id: "a", probability: 0.5 }, "has no question"],
  [{ question: "scam", probability: 0.5 }, 'has no id among "question", "probability"'],
  [{ id: "a", question: 3, probability: 0.5 }, "question is 3; it must be a text"],
  ["a", "the record is no JSON object"],
])("the answer %j is refused: %s", (answer, message) => {
  expect(() => tableOf([answer as object])).toThrow(`answers line 1: `);
  expect(() => tableOf([answer as object])).toThrow(message);
});

test("answers of two models, wires, bases or wordings are never mixed", () => {
  const rows = [
    scam("a", 0.1),
    scam("a", 0.2, { modelId: "m/two" }),
    scam("a", 0.3, { wire: "direct" }),
    scam("a", 0.4, { questionHash: "other" }),
    scam("a", 0.5, { modelId: "local/lexical-1" }),
  ];
  const { columns } = tableOf(rows);
  expect(columns.map(({ values }) => values[0])).toEqual([0.1, 0.2, 0.3, 0.4, 0.5]);
  expect(columns.map(({ source }) => source.basis).at(-1)).toBe("lexical");
});

test("what answers rest on is read from who answered", () => {
  expect(basisOf("local/lexical-1", "gateway https://x")).toBe("lexical");
  expect(basisOf("local/rules-1", null)).toBe("rule");
  expect(basisOf("m/one", "emulator local://emulator")).toBe("recorded");
  expect(basisOf("m/one", "gateway https://x")).toBe("model");
});

test("a router's decision joins by either of its ids, and one that failed is known", () => {
  const decision = {
    requestId: "r-1",
    evaluationId: "gen_1",
    outcome: "replied",
    time: "2026-03-02T10:00:00.000Z",
    model: "maker/small",
    probabilities: { nano: 0.9, fast: 0.1 },
    evaluatorModelId: "m/one",
    questionHash: "abc",
  };
  const failed = {
    requestId: "r-2",
    evaluationId: null,
    outcome: "no-decision",
    probabilities: null,
  };
  const table = tableOf([decision, failed]);
  expect(table.days).toEqual({ from: "2026-03-02", to: "2026-03-02" });
  const join = joinOf(table, [
    { id: "gen_1", truth: "nano" },
    { id: "r-2", truth: "fast" },
  ]);
  expect(join.columns[0]?.column.source).toMatchObject({ modelId: "m/one", questionHash: "abc" });
  expect(join.countsOf("tier")).toMatchObject({ joined: 1, labelledWithoutAnswer: 1 });
  expect(() =>
    joinOf(table, [
      { id: "gen_1", truth: "nano" },
      { id: "r-1", truth: "fast" },
    ]),
  ).toThrow("second time");
});

test("a kept evaluation has one source for each wording of its questions", () => {
  const table = new AnswerTable();
  const asked = (instructions: string) => ({ scam: { type: "boolean", instructions } }) as const;
  const evaluation = { modelId: "m/one", answers: { scam: { type: "boolean", probability: 0.5 } } };
  for (const [id, words] of [
    ["a", "Scam?"],
    ["b", "Scam?"],
    ["c", "Scam!"],
  ] as const) {
    const kept = { id, questions: asked(words), wire: "gateway", evaluation };
    table.addEvaluation(kept, { file: "journal" });
  }
  expect(table.columns.map(({ ids }) => ids)).toEqual([["a", "b"], ["c"]]);
});

test("ids and options named as what objects inherit are names like others", () => {
  const probabilities = JSON.parse('{"__proto__": 0.5, "constructor": 0.5}') as object;
  const table = tableOf([{ id: "toString", question: "__proto__", probabilities }]);
  const join = joinOf(table, [{ id: "toString", question: "__proto__", truth: "constructor" }]);
  expect(join.columns[0]?.truth).toEqual([1]);
});

test("options may come in any order, and others are refused", () => {
  const rows = [
    { nano: 0.6, fast: 0.4 },
    { fast: 0.1, nano: 0.9 },
    { nano: 0.5, slow: 0.5 },
  ];
  const answers = rows.map((probabilities, id) => ({ id, question: "tier", probabilities }));
  expect([...(tableOf(answers.slice(0, 2)).columns[0]?.values ?? [])]).toEqual([
    0.6, 0.4, 0.9, 0.1,
  ]);
  expect(() => tableOf(answers)).toThrow(
    'answers line 3: question "tier" has the options "nano", "slow"',
  );
});

test("an answer of an unknown kind is refused with the kinds that have a form", () => {
  const table = new AnswerTable();
  const source = { modelId: null, wire: null, basis: "model", questionHash: null } as const;
  const answer = { ids: ["a"], question: "tier", options: ["x"], values: [1], source };
  const ranking = "ranking" as QuestionKind;
  expect(() => table.add({ ...answer, kind: ranking }, { file: "answers" })).toThrow(
    'There is no kind "ranking"; use boolean, choice, score, box',
  );
});

test("levels are ordered unless the record names a kind without an order", () => {
  const probabilities = { "0": 0.5, "1": 0.5 };
  const [level, named] = tableOf([
    { id: "a", question: "level", probabilities },
    { id: "a", question: "named", type: "choice", probabilities },
  ]).columns;
  expect([level?.isOrdered, named?.isOrdered]).toEqual([true, false]);
});

test("a router's decision log holds its own labels", () => {
  const lines = [
    { requestId: "r-1", outcome: "replied", probabilities: { nano: 0.9, fast: 0.1 } },
    ...[{ feedback: "fast" }, { thumb: "up" }, { feedback: "nano" }].map((note) =>
      Object.assign({ requestId: "r-1" }, note),
    ),
  ];
  const join = joinOf(tableOf(lines), lines, { last: true });
  expect(join.columns.map(({ truth }) => truth)).toEqual([[0]]); // the last word
  expect(join.countsOf("tier")).toMatchObject({ labelled: 1, joined: 1, repeated: 1 });
  expect(join.labelers.list).toEqual(["feedback"]);
});
