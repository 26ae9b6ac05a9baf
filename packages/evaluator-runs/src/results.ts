export { type BaseAnswers, toValues } from "./base-answers.ts";
export { inputOf } from "./journal-address.ts";
export { type ResultRow, type RunResults, toAnswered, withResults } from "./journal-results.ts";
export type { NewRecords } from "./journal/journal-reader.ts";
export type { KeptEvaluation } from "./journal/kept-answer.ts";
export type { RunFacts } from "./journal/journal-schema.ts";
export type { ResultRecord } from "./output/write-records.ts";
export { type AnsweredRecord, promiseOf } from "./rules/conditions.ts";
export {
  describeFilter,
  readFilter,
  readRules,
  type Rule,
  takeRecord,
} from "./rules/rules-file.ts";
export { isEmulator } from "./service.ts";
