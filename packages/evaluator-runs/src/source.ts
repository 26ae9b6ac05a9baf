export {
  describePromisedRisk,
  describeTestedRisk,
  printCount,
  printCounted,
  printDuration,
  printUsd,
} from "./amounts.ts";
export { findFitted, hashLabelledId, noPromise, readCalibration } from "./calibration.ts";
export { type AskedQuestion, askedQuestions, columnsOf, shortValue } from "./columns/columns.ts";
export { alignColumns } from "./columns/table.ts";
export { openRecords, type RecordForm } from "./input/checked-records.ts";
export { type JsonRecord, readJsonRecords } from "./input/json-records.ts";
export {
  type InputOptions,
  type InputRecord,
  type RecordInput,
  type RecordSource,
  type RunRecord,
} from "./input/record-source.ts";
export { peek, toUtf8Chunks } from "./input/utf8-chunks.ts";
export { lockBeside } from "./sqlite/lock-file.ts";
export { toInputPath, toOutputPath } from "./output/paths.ts";
export { toJsonArray } from "./output/write-records.ts";
export { type NextEngine, readNextEngine } from "./next-engine.ts";
export { readQuestions } from "./questions/read-questions.ts";
