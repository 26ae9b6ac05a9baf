import { expect, test } from "vitest";
import type { CalibrationArtifact, LockedThreshold } from "./artifact.ts";
import { toAnswerRecord } from "./answer-record.ts";
import { artifactHash, calibrate, decide } from "./apply-artifact.ts";
import { AnswerTable } from "./input/answer-table.ts";
import { questionHash } from "./kinds.ts";

const questions = {
  refund: { type: "boolean", instructions: "Is a refund due?" },
  kind: { type: "choice", instructions: "What?", criteria: { bill: "a bill", other: "rest" } },
  level: { type: "score", instructions: "How urgent?", criteria: ["low", "high"] },
} as const;

const promise = { maxRisk: 0.05, confidence: 0.95, level: 0.025, n: 92, wrong: 0 };

function lock(question: string, action: LockedThreshold["action"], threshold: number) {
  return { question, action, threshold, ...promise } satisfies LockedThreshold;
}

const artifact: CalibrationArtifact = {
  version: 2,
  model: { id: "maker/judge-7", wire: "gateway" },
  questionHash: questionHash(questions),
  rounding: { probabilityDecimals: 2 },
  kind: "logistic",
  question: "refund",
  // Recalibrated, a printed no of 0.99 is one of 0.88.
  parameters: { intercept: 0, slope: 0.44 },
  fittedOn: { n: 200, from: null, to: null, hash: "abc" },
  heldOut: null,
  thresholds: [lock("refund", "no", 0.97), lock("kind", "top", 0.9)],
};

function answered(refund: number) {
  return {
    answers: {
      refund: { type: "boolean", probability: refund },
      kind: { type: "choice", choice: "bill", probabilities: { bill: 0.9, other: 0.1 } },
      level: { type: "score", score: 1, probabilities: { "0": 0, "1": 1 } },
    },
    modelId: "maker/judge-7",
    transport: "gateway",
    rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
    headers: {},
  };
}

test("an act has the promise it is based on, and no act has its reason", () => {
  expect(decide(answered(0.01), artifact, { questions })).toEqual({
    refund: {
      act: "no",
      evidence: {
        artifact: artifactHash(artifact),
        questions: questionHash(questions).slice(0, 16),
        model: "maker/judge-7",
        printed: 0.99,
        threshold: 0.97,
        ...promise,
      },
    },
    kind: { act: "bill", evidence: expect.objectContaining({ printed: 0.9, threshold: 0.9 }) },
    level: { act: null, why: "no-promise" },
  });
  const none = { act: null, why: "below-threshold" };
  expect(decide(answered(0.04), artifact, { questions })["refund"]).toEqual(none);
  expect(decide(answered(0.99), artifact, { questions })["refund"]).toEqual(none);
});

test("printed hundredths are compared, whatever their floating-point number is", () => {
  for (let at = 51; at <= 100; at += 1) {
    for (const action of ["yes", "no"] as const) {
      const one = { ...artifact, thresholds: [lock("refund", action, at / 100)] };
      const isActed = (p: number) => decide(answered(p), one, { questions })["refund"]?.act;
      const [last, next] =
        action === "yes" ? [at / 100, (at - 1) / 100] : [(100 - at) / 100, (101 - at) / 100];
      expect([isActed(last), isActed(next)], `${action} ${at}`).toEqual([action, null]);
    }
  }
});

test("each promise of a question is looked at", () => {
  const thresholds = [lock("refund", "yes", 0.95), lock("refund", "no", 0.97)];
  const both = { ...artifact, thresholds };
  const actOn = (refund: number) => decide(answered(refund), both, { questions })["refund"]?.act;
  expect([0.96, 0.5, 0.02].map(actOn)).toEqual(["yes", null, "no"]);
});

test("of equal options the first is acted on, as in the promise", () => {
  const thresholds = [lock("kind", "top", 0.5)];
  const evaluation = answered(0.5);
  const kind = { type: "choice", choice: "other", probabilities: { bill: 0.5, other: 0.5 } };
  const answers = { ...evaluation.answers, kind };
  const { kind: decision } = decide(
    { ...evaluation, answers },
    { ...artifact, thresholds },
    { questions },
  );
  expect(decision).toMatchObject({ act: "bill", evidence: { printed: 0.5 } });
});

test("500 recalibrated answers give the same acts as the printed ones", () => {
  let acts = 0;
  for (let row = 0; row < 500; row += 1) {
    const evaluation = answered((row % 100) / 100);
    const decided = decide(evaluation, artifact, { questions });
    expect(decide(calibrate(evaluation, artifact, { questions }), artifact, { questions })).toEqual(
      decided,
    );
    acts += decided["refund"]?.act === "no" ? 1 : 0;
  }
  expect(acts).toBe(20);
});

test.each([
  ["another model", { modelId: "maker/judge-8" }, {}, "model"],
  ["a model without a name", { modelId: null }, {}, "model"],
  ["other questions", { questionHash: "other" }, {}, "questionHash"],
  ["an artifact without a hash", {}, { questionHash: null }, "questionHash"],
  ["no questions at all", {}, {}, "questionHash"],
  [
    "an act that the kind does not have",
    { questionHash: questionHash(questions) },
    { thresholds: [lock("kind", "yes", 0.9)] },
    "answer",
  ],
])("%s is a mismatch", (_, evaluation, changes, field) => {
  const decideIt = () => decide({ ...answered(0), ...evaluation }, { ...artifact, ...changes });
  expect(decideIt).toThrow(expect.objectContaining({ name: "CalibrationMismatchError", field }));
});

test("evidence takes at most 300 bytes, and the hash does not depend on the order of keys", () => {
  const model = { id: "m".repeat(64), wire: null };
  const long = {
    ...artifact,
    model,
    thresholds: [{ ...lock("refund", "no", 0.97), n: 123_456, wrong: 1234 }],
  };
  const given = { ...answered(0.01), modelId: model.id };
  const decision = decide(given, long, { questions })["refund"];
  const evidence = decision?.act === "no" ? JSON.stringify(decision.evidence) : "";
  expect(evidence.length).toBeLessThanOrEqual(300);
  const turned = Object.fromEntries(Object.entries(artifact).toReversed()) as CalibrationArtifact;
  expect(artifactHash(turned)).toBe(artifactHash(artifact));
  expect(artifactHash({ ...artifact, version: 1 })).not.toBe(artifactHash(artifact));
  expect(artifactHash(artifact)).toMatch(/^[0-9a-f]{16}$/);
});

test("a record of answers holds the printed ones, is read again, and decides alike", () => {
  const calibrated = calibrate(answered(0.01), artifact, { questions });
  const record = toAnswerRecord("t-1", calibrated, questions);
  expect(Object.keys(record)).toEqual([
    "id",
    "answers",
    "modelId",
    "wire",
    "questionHash",
    "rounding",
  ]);
  expect(record.answers.refund.probability).toBe(0.01);
  expect(decide(record, artifact)).toEqual(decide(calibrated, artifact, { questions }));
  const table = new AnswerTable();
  table.addRecord({ line: 1, value: JSON.parse(JSON.stringify(record)) }, "answers.ndjson");
  expect(table.columns.map(({ question }) => question)).toEqual(["refund", "kind", "level"]);
  const [{ source } = { source: null }] = table.columns;
  expect(source).toMatchObject({ questionHash: questionHash(questions), wire: "gateway" });
  const emulated = { ...answered(0.5), headers: { "x-evaluator-emulator": "1" } };
  expect(toAnswerRecord("t-1", emulated, questions).wire).toBe("emulator gateway");
});

test("of several models, only the answers of the artifact's own are acted on", () => {
  const route = {
    refund: { step: 1, modelId: "maker/judge-7" },
    kind: { step: 2, modelId: "maker/judge-9" },
  };
  const mixed = { ...answered(0.01), modelId: null, route };
  const decisions = decide(mixed, artifact, { questions });
  expect(decisions["refund"]?.act).toBe("no");
  expect(decisions["kind"]).toEqual({ act: null, why: "no-promise" });
  // Two models without names are two all the same.
  const unnamed = { ...artifact, model: { id: null, wire: null } };
  const hidden = {
    refund: { step: 1, modelId: null },
    kind: { step: 2, modelId: null },
  };
  const both = decide({ ...mixed, route: hidden }, unnamed, { questions });
  expect(both["refund"]?.act).toBe("no");
  expect(both["kind"]).toEqual({ act: null, why: "no-promise" });
  const others = { ...mixed, route: { refund: route.kind, kind: route.kind, level: route.kind } };
  expect(() => decide(others, artifact, { questions })).toThrow(
    "and a model without a name answered",
  );
});

test("a model that was asked first has its answers or none, and another one is refused", () => {
  const route = { refund: { step: 2, modelId: "maker/judge-9" } };
  const answers = { refund: { type: "boolean", probability: 0.01 } } as const;
  const own = { ...answered(0.4), answers: { refund: answered(0.4).answers.refund } };
  const other = { ...answered(0.01), answers, modelId: "maker/judge-9", transport: "direct" };
  const replaced = { ...other, route, steps: [own, other] };
  const decided = decide(replaced, artifact, { questions });
  expect(decided).toEqual({ refund: { act: null, why: "no-promise" } });
  expect(calibrate(replaced, artifact, { questions }).answers).toEqual(answers);
  // The second model has its own promise, on its own answers.
  const ofOther = { ...artifact, model: { id: "maker/judge-9", wire: null } };
  expect(decide(replaced, ofOther, { questions })["refund"]?.act).toBe("no");
  expect(() => decide(other, artifact, { questions })).toThrow("maker/judge-9 answered");
  expect(() => calibrate(other, artifact, { questions })).toThrow("maker/judge-9 answered");
  const mixed = { ...answered(0.4), modelId: null, route: { kind: route.refund } };
  const fitted = {
    ...mixed,
    route: { ...mixed.route, refund: { step: 1, modelId: "maker/judge-7" } },
  };
  const { refund, kind } = calibrate(fitted, artifact, { questions }).answers;
  expect(refund.probability).not.toBe(0.4);
  expect(kind).toEqual(mixed.answers.kind);

  const record = toAnswerRecord("t-1", replaced, questions);
  expect(decide(record, artifact)).toEqual(decided);
  const table = new AnswerTable();
  table.addRecord({ line: 1, value: JSON.parse(JSON.stringify(record)) }, "answers.ndjson");
  expect(
    table.steps
      .get("refund")
      ?.flat()
      .map(({ source }) => source),
  ).toEqual([
    expect.objectContaining({ modelId: "maker/judge-7", wire: "gateway" }),
    expect.objectContaining({ modelId: "maker/judge-9", wire: "direct" }),
  ]);
});

test("no act is promised on a state that was cut", () => {
  const warnings = [{ type: "state-cut", message: "…" }];
  const decisions = decide({ ...answered(0.01), warnings }, artifact, { questions });
  expect(decisions["refund"]).toEqual({ act: null, why: "no-promise" });
});

test.each([[[]], [["a", "b"]], [[{ note: "read" }]], [7]])(
  "a record's answers are read beside steps of another program: %j",
  (steps) => {
    const table = new AnswerTable();
    const value = { id: "t-1", answers: { refund: { type: "boolean", probability: 0.4 } }, steps };
    table.addRecord({ line: 1, value }, "answers.ndjson");
    expect(table.columns.map(({ question, ids }) => [question, ids])).toEqual([
      ["refund", ["t-1"]],
    ]);
    expect(table.steps.size).toBe(0);
  },
);
