import { expect, test } from "vitest";
import { type CalibrationArtifact, parseCalibrationArtifact } from "./artifact.ts";
import { calibrate, CalibrationMismatchError } from "./apply-artifact.ts";
import { questionHash } from "./kinds.ts";

const questions = {
  category: { type: "choice", instructions: "What?", criteria: { spam: "bad", other: "rest" } },
  scam: { type: "boolean", instructions: "A scam?" },
} as const;

const artifact: CalibrationArtifact = {
  version: 1,
  model: { id: "maker/judge-7", wire: "gateway" },
  questionHash: questionHash(questions),
  rounding: { probabilityDecimals: 2 },
  kind: "by-question",
  parameters: {
    scam: { kind: "logistic", parameters: { intercept: -1, slope: 1 } },
    category: { kind: "temperature", parameters: { temperature: 2 } },
  },
  fittedOn: { n: 200, from: null, to: null, hash: "abc" },
  heldOut: { before: 0.5, after: 0.4 },
  thresholds: [],
};

const evaluation = {
  answers: {
    category: { type: "choice", choice: "spam", probabilities: { spam: 0.9, other: 0.1 } },
    scam: { type: "boolean", probability: 0.5 },
    deal: { type: "boolean", probability: 0.25 },
    level: { type: "score", score: 0.9, probabilities: { "0": 0.1, "1": 0.9 } },
  },
  confidence: { category: 0.8, level: 0.7 },
  modelId: "maker/judge-7",
  costUsd: 0.00001,
} as const;

test("answers are recalibrated, and what was printed is kept beside them", () => {
  const before = structuredClone(evaluation);
  const calibrated = calibrate(evaluation, artifact, { questions });
  expect(calibrated).toMatchObject({ calibrated: true, costUsd: 0.00001 });
  expect(calibrated.answers.scam.probability).toBeCloseTo(1 / (1 + Math.E), 12);
  expect(calibrated.answers.category.probabilities.spam).toBeCloseTo(0.75, 12);
  expect(calibrated.answers.category.choice).toBe("spam");
  expect(calibrated.answers.deal).toEqual(evaluation.answers.deal);
  expect(calibrated.printed).toEqual(before.answers);
  expect(evaluation).toEqual(before);
});

test("a recalibrated answer has no confidence; one that was left has it still", () => {
  expect(calibrate(evaluation, artifact).confidence).toEqual({ level: 0.7 });
});

test("the mean level of a score follows its recalibrated levels", () => {
  const one = {
    ...artifact,
    kind: "temperature",
    parameters: { temperature: 2 },
    question: "level",
  } as const;
  const { answers } = calibrate(evaluation, one);
  expect(answers.level.score).toBeCloseTo(0.75, 12);
  expect(answers.category).toEqual(evaluation.answers.category);
});

test("a model id that differs by one letter throws", () => {
  for (const modelId of ["maker/judge-8", "maker/Judge-7", "maker/judge-7 ", null]) {
    const call = () => calibrate({ ...evaluation, modelId }, artifact);
    expect(call).toThrow(CalibrationMismatchError);
    expect(call).toThrow("was made for maker/judge-7");
  }
});

test("a question with one other word throws", () => {
  const other = { ...questions, scam: { type: "boolean", instructions: "A scam!" } } as const;
  expect(() => calibrate(evaluation, artifact, { questions: other })).toThrow(
    CalibrationMismatchError,
  );
  const kept = { ...evaluation, questionHash: questionHash(other) };
  expect(() => calibrate(kept, artifact)).toThrow(
    "The calibration was made for other questions; ask those, or calibrate again.",
  );
});

test("a question hash knows words, options and their order, and no formatting", () => {
  const { category } = questions;
  const turned = { other: "rest", spam: "bad" };
  expect(questionHash({ category: { ...category, criteria: turned } })).not.toBe(
    questionHash({ category }),
  );
  const { criteria, instructions, type } = category;
  expect(questionHash({ category: { criteria, instructions, type } })).toBe(
    questionHash({ category }),
  );
});

test("an artifact is read back as it was written, and what is none is named", () => {
  expect(parseCalibrationArtifact(JSON.stringify(artifact))).toEqual(artifact);
  expect(() => parseCalibrationArtifact("{")).toThrow("is not JSON");
  const hot = { ...artifact, kind: "temperature", parameters: { temperature: 99 } };
  expect(() => parseCalibrationArtifact(JSON.stringify(hot))).toThrow("parameters.temperature");
  const next = { ...artifact, version: 3 };
  expect(() => parseCalibrationArtifact(JSON.stringify(next))).toThrow(
    "is of version 3, and this release reads versions 1 to 2",
  );
});

test("a threshold beyond 0.5, as version 1 could promise, is left out", () => {
  const locked = { question: "scam", maxRisk: 0.05, confidence: 0.95, n: 90, wrong: 0 };
  const thresholds = [
    { ...locked, action: "no", threshold: 0.2 },
    { ...locked, action: "yes", threshold: 0.51, level: 0.025, method: "fixed" },
    { ...locked, action: "top", threshold: 0.2 },
  ];
  const fittedOn = { ...artifact.fittedOn, ids: ["0a1b2c3d"], skipped: 3, labelers: 2 };
  const written = JSON.stringify({ ...artifact, version: 2, fittedOn, thresholds });
  expect(parseCalibrationArtifact(written)).toMatchObject({
    version: 2,
    fittedOn,
    thresholds: thresholds.slice(1),
  });
});

test("a calibration that names no questions is refused, whatever was asked", () => {
  const nameless = { ...artifact, questionHash: null };
  for (const options of [{}, { questions }]) {
    const act = () => calibrate(evaluation, nameless, options);
    expect(act).toThrow(CalibrationMismatchError);
    expect(act).toThrow(expect.objectContaining({ field: "questionHash" }));
  }
});

test("questions named as what objects inherit are questions like others", () => {
  const answers = JSON.parse('{"__proto__": {"type": "boolean", "probability": 0.5}}') as object;
  const named = {
    ...evaluation,
    answers: answers as Record<string, { type: "boolean"; probability: number }>,
  };
  const one = {
    ...artifact,
    kind: "logistic",
    parameters: { intercept: -1, slope: 1 },
    question: "__proto__",
  } as const;
  const calibrated = calibrate(named, one);
  expect(Object.keys(calibrated.answers)).toEqual(["__proto__"]);
  expect(Object.values(calibrated.answers)[0]?.probability).toBeCloseTo(1 / (1 + Math.E), 12);
  expect(calibrate(named, { ...artifact, kind: "none", parameters: {} }).answers).toEqual(answers);
});
