export { answerFields as columnsOf } from "./columns/answer-fields.ts";
export type { InputRecord, RecordInput, RecordSource, RunRecord } from "./input/record-source.ts";
export { Journal } from "./journal/journal.ts";
