// Scores
export {
  brierScore,
  brierSkill,
  logLoss,
  type LogLoss,
  type LogLossOptions,
  spiegelhalter,
} from "./scores/boolean-scores.ts";
export {
  brierScoreOfChoice,
  logLossOfChoice,
  type ProbabilityRows,
  type ProbabilityTable,
  rankedProbabilityScore,
} from "./scores/choice-scores.ts";
export { type CorpCurve, corpCurve, type CurvePoint } from "./scores/corp-curve.ts";
export { type BinOptions, expectedCalibrationError } from "./scores/calibration-error.ts";
export { cohenKappa } from "./scores/cohen-kappa.ts";
export { rocAuc, type RocAuc } from "./scores/roc-auc.ts";
export type { Numbers, Weighted } from "./check-rows.ts";

// Thresholds
export {
  type Bound,
  clopperPearson,
  type Interval,
  type IntervalOptions,
  labelsForBound,
  labelsForWidth,
  labelsForZeroErrors,
  wilson,
} from "./thresholds/intervals.ts";
export {
  conformalRiskControl,
  type Costs,
  type CostThreshold,
  costThreshold,
  riskCoverage,
  type RiskCoveragePoint,
} from "./thresholds/risk-coverage.ts";
export {
  learnThenTest,
  type PromiseAction,
  type PromisedAction,
  type PromisedThreshold,
  type PromiseOptions,
  promiseThresholds,
} from "./thresholds/learn-then-test.ts";

// Recalibration
export { applyLogistic, fitLogistic, type LogisticFit } from "./recalibration/logistic.ts";
export { applyIsotonic, fitIsotonic, type IsotonicFit } from "./recalibration/isotonic.ts";
export {
  applyTemperature,
  fitTemperature,
  type TemperatureFit,
} from "./recalibration/temperature.ts";

// Two releases
export { holm, mcnemarExact } from "./scores/paired-rows.ts";
export { kolmogorovSmirnov, populationStabilityIndex } from "./scores/shifted-values.ts";

// The artifact
export {
  type CalibrationArtifact,
  calibrationArtifactSchema,
  type LockedThreshold,
  parseCalibrationArtifact,
  type Recalibration,
  recalibrationOf,
} from "./artifact/artifact.ts";
export {
  applyRecalibration,
  calibrate,
  type CalibratedEvaluation,
  type CalibrateOptions,
  CalibrationMismatchError,
  type PrintedAnswer,
  type PrintedEvaluation,
} from "./artifact/calibrate.ts";
export { type AskedQuestion, type AskedQuestions, questionHash } from "./artifact/question-hash.ts";

// Reading answers and labels
export {
  type AnswerColumn,
  type AnswerSource,
  AnswerTable,
  type AnswerTableOptions,
  type Basis,
  type QuestionKind,
  type RecordAnswer,
} from "./input/answer-table.ts";
export { CalibrationInputError, type SourceLocation } from "./input/input-error.ts";
export {
  type JoinCounts,
  type JoinedColumn,
  type JoinOptions,
  LabelJoin,
} from "./input/join-labels.ts";
export {
  basisOf,
  evaluationReader,
  idOf,
  type KeptAnswers,
  readAnswerRecord,
} from "./input/read-answers.ts";
export type { InputRecord, RecordSplitter } from "./input/input-record.ts";
export { recordSplitter } from "./input/split-records.ts";

// The report
export type { ActionOptions, ActionReport } from "./report/action-report.ts";
export type { BandedPoint, CurveReport, WrongRange } from "./report/curve-report.ts";
export { type GroupReport, LEAST_JUDGED } from "./report/group-report.ts";
export {
  filterRows,
  type LabelledRows,
  type TestedRows,
  toLabelledRows,
} from "./report/labelled-rows.ts";
export type { Labeler, LabelerAgreement } from "./report/labelers.ts";
export {
  type NeededLabels,
  type QuestionReport,
  type ReportedRows,
  type ReportOptions,
  reportQuestions,
  toKeep,
} from "./report/question-report.ts";
export type { WorstRow } from "./report/worst-rows.ts";
export {
  fitRecalibration,
  LEAST_FITTED,
  LEAST_FITTED_OF_EACH,
  type RecalibrationReport,
} from "./report/recalibrate.ts";
export type { ConstantPredictor, Estimate, ScoreReport } from "./report/score-report.ts";
export { checkThreshold, type ThresholdCheck } from "./report/threshold-check.ts";

// Labels to make next, and releases
export { type PickedRecord, pickRecords } from "./pick-records.ts";
export {
  compareLabelled,
  compareReleases,
  type LabelledComparison,
  type ReleaseComparison,
} from "./report/compare-releases.ts";
export { DEFAULT_SEED } from "./math/random.ts";
