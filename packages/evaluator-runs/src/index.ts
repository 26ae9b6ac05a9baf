export { type AnswerColumn, type AskedQuestion, columnsOf } from "./columns/columns.ts";
export type { InputRecord, RecordInput, RecordSource, RunRecord } from "./input/record-source.ts";
export type { AnsweredEntry, UnansweredEntry } from "./sqlite/journal-rows.ts";
export type { Journal } from "./sqlite/journal.ts";
export type { Machine } from "./machine.ts";
export { isOneOf, openPlan, readPlan, toPlanPath } from "./label/promise-sheet.ts";
export type { NextEngine } from "./next-engine.ts";
export type { PlanInput } from "./run/plan-calls.ts";
export {
  type JournalSetup,
  openJournal,
  readAnswers,
  readEntries,
  type RunOptions,
  type RunOutcome,
  runRecords,
} from "./run-records.ts";
