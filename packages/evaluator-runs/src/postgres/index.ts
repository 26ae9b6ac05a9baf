export type { AnswerWriter, KeptAnswer, RecordEnd, WriterOptions } from "./answer-writer.ts";
export { CHUNK_SIZE, type LeasedChunk } from "./chunk-queue.ts";
export { DatabaseError, type DatabaseFailure } from "./database-error.ts";
export { type Cell, type Connection, type Database, openDatabase, type Query } from "./database.ts";
export type { RunRecord } from "./load-run.ts";
export { migrate } from "./schema.ts";
export { postgresLimits } from "./postgres-limits.ts";
export {
  type ChunkRecord,
  PostgresRuns,
  postgresRuns,
  type ReportedRun,
  type RunStore,
  type RunWriter,
  type WorkerReport,
} from "./postgres-runs.ts";
export type { QueryResult, QueryTable, RunQuery } from "./read-only-query.ts";
export type {
  AnswerStatus,
  NewIds,
  NewRun,
  RunInfo,
  RunRow,
  RunSetup,
  RunState,
  WorkerInfo,
} from "./run-reader.ts";
