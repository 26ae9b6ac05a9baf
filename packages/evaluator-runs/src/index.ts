export { type AnswerColumn, type AskedQuestion, columnsOf } from "./columns/columns.ts";
export type { InputRecord, RecordInput, RecordSource, RunRecord } from "./input/record-source.ts";
export { Journal } from "./journal/journal.ts";
