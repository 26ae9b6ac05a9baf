// Reading answers and labels
export { AnswerTable, type KeptAnswers } from "./input/answer-table.ts";
export { AnswerColumn, type RecordAnswer } from "./input/answer-column.ts";
export type { AnswerSource, Basis } from "./input/answer-source.ts";
export {
  CalibrationInputError,
  idOf,
  type InputRecord,
  listNames,
  type SourceLocation,
  truthText,
  yesOrNo,
} from "./input/input-record.ts";
export { type JoinedColumn, type JoinOptions, LabelJoin } from "./input/join-labels.ts";
export { parseLabel } from "./input/labels.ts";
export { stateHash } from "./math/random.ts";
export { calibrationArtifactSchema } from "./artifact.ts";

// The report
export { reportSteps, type StepReport } from "./report/step-report.ts";
export { type ActionReport, actionsOf } from "./report/action-report.ts";
export { LEAST_ORDER_P_VALUE } from "./scores/probability-scores.ts";
export type { CurveReport } from "./scores/reliability.ts";
export {
  LEAST_JUDGED,
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
  toThresholdTest,
} from "./report/promise-plan.ts";
export { type Estimate, type LabelledRows, toLabelledRows } from "./report/labelled-rows.ts";

// The labels to make next, and releases
export { drawRecords, type PickedRecord, pickRecords } from "./pick-records.ts";
export { compareLabelled, type LabelledComparison } from "./report/compare-releases.ts";
