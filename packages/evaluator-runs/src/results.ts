export { toValues } from "./columns/columns.ts";
export { inputOf } from "./journal-address.ts";
export { type ResultRow, type RunResults, withResults } from "./journal-results.ts";
export type { NewRecords, RunFacts } from "./journal/journal-reader.ts";
export type { KeptEvaluation } from "./journal/kept-answer.ts";
export type { ResultRecord } from "./output/write-records.ts";
export type { AnsweredRecord } from "./rules/conditions.ts";
export { promiseOf } from "./rules/promise.ts";
export {
  describeFilter,
  readFilter,
  readRules,
  type Rule,
  takeRecord,
  toAnswered,
} from "./rules/rules-file.ts";
export { isEmulator } from "./service.ts";
export type { BaseAnswers } from "./workers/open-runs.ts";
