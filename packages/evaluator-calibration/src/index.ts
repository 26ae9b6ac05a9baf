// Scores
export { cohenKappa } from "./scores/probability-scores.ts";
export { type CorpCurve, corpCurve } from "./scores/reliability.ts";
export type { Numbers, Weighted } from "./math/rows.ts";

// Thresholds
export {
  learnThenTest,
  type PromiseAction,
  type PromisedAction,
  type PromisedThreshold,
  type PromiseOptions,
  promiseThresholds,
} from "./thresholds/learn-then-test.ts";
export {
  createPromiseDraw,
  type PromiseDraw,
  type PromiseDrawOptions,
} from "./thresholds/promise-draw.ts";
export {
  createRiskAlarm,
  type RiskAlarmState,
  type SavedRiskAlarm,
} from "./thresholds/risk-alarm.ts";
export type { Bound, Interval } from "./thresholds/intervals.ts";
export { type Costs, costThreshold } from "./thresholds/risk-coverage.ts";

// The artifact
export { basisOf } from "./input/answer-source.ts";
export {
  type CalibrationArtifact,
  type LockedThreshold,
  parseCalibrationArtifact,
  type Recalibration,
} from "./artifact.ts";
export {
  type ActEvidence,
  artifactHash,
  calibrate,
  type CalibratedEvaluation,
  type CalibrateOptions,
  CalibrationMismatchError,
  decide,
  type Decision,
  nameModel,
  type PrintedAnswer,
  type PrintedEvaluation,
  questionProblem,
} from "./apply-artifact.ts";
export { toAnswerRecord } from "./answer-record.ts";
export {
  type AskedQuestion,
  type AskedQuestions,
  type QuestionKind,
  questionHash,
} from "./kinds.ts";
