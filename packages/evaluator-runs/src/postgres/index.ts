export { AnswerWriter } from "./answer-writer.ts";
export { CHUNK_SIZE } from "../store/run-store.ts";
export { DatabaseError, type DatabaseFailure } from "./database-error.ts";
export { type Connection, type Database, openDatabase, type Query } from "./database.ts";
export { migrate } from "./schema.ts";
export { postgresLimits } from "./postgres-limits.ts";
export { PostgresRuns, postgresRuns } from "./postgres-runs.ts";
export type { Cell, QueryResult, QueryTable, RunQuery, RunRow } from "../store/run-query.ts";
export type {
  CallStatus,
  ChunkRecord,
  KeptAnswer,
  LeasedChunk,
  NewRun,
  RecordEnd,
  ReportedRun,
  RunRecord,
  RunStore,
  RunWriter,
  WorkerReport,
  WriterOptions,
} from "../store/run-store.ts";
export type { NewRecords, RunInfo, RunSetup, RunState, WorkerInfo } from "../store/stored-runs.ts";
