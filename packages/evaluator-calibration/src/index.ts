// Scores
export { cohenKappa } from "./scores/probability-scores.ts";
export { type CorpCurve, corpCurve, type CurveReport } from "./scores/reliability.ts";
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
export type { Costs } from "./thresholds/risk-coverage.ts";
export { checkThreshold, type ThresholdCheck } from "./report/check-threshold.ts";

// The artifact
export {
  type CalibrationArtifact,
  calibrationArtifactSchema,
  type LockedThreshold,
  parseCalibrationArtifact,
  type Recalibration,
} from "./artifact.ts";
export {
  calibrate,
  type CalibratedEvaluation,
  type CalibrateOptions,
  CalibrationMismatchError,
  type PrintedAnswer,
  type PrintedEvaluation,
} from "./calibrate.ts";
export { type ActEvidence, artifactHash, decide, type Decision, toAnswerRecord } from "./decide.ts";
export {
  type AskedQuestion,
  type AskedQuestions,
  type QuestionKind,
  questionHash,
} from "./kinds.ts";

// Reading answers and labels
export { AnswerTable, type KeptAnswers } from "./input/answer-table.ts";
export {
  AnswerColumn,
  type AnswerSource,
  type Basis,
  basisOf,
  type RecordAnswer,
} from "./input/answer-column.ts";
export {
  CalibrationInputError,
  idOf,
  type InputRecord,
  type SourceLocation,
} from "./input/input-record.ts";
export { type JoinedColumn, type JoinOptions, LabelJoin } from "./input/join-labels.ts";

// The report
export { LEAST_JUDGED } from "./report/group-report.ts";
export { type ActionReport, actionsOf } from "./report/action-report.ts";
export {
  type QuestionReport,
  type ReportOptions,
  reportQuestions,
} from "./report/question-report.ts";
export {
  parsePromisePlan,
  type PlannedPromise,
  type PromisePlan,
  promisePool,
  replayPlan,
} from "./report/promise-plan.ts";
export { type Estimate, type LabelledRows, toLabelledRows } from "./report/labelled-rows.ts";

// The labels to make next, and releases
export { drawRecords, type PickedRecord, pickRecords } from "./pick-records.ts";
export {
  compareLabelled,
  compareReleases,
  type LabelledComparison,
} from "./report/compare-releases.ts";
