export type { AnswerWriter, RecordEnd, WriterOptions } from "./answer-writer.ts";
export type { AnswerStatus, KeptAnswer } from "./answers.ts";
export { CHUNK_SIZE, type LeasedChunk } from "./chunk-queue.ts";
export type { ChunkRecord } from "./chunk-records.ts";
export { DatabaseError, type DatabaseFailure } from "./database-error.ts";
export type { Connection } from "./database.ts";
export type { NewRun, RunRecord } from "./load-run.ts";
export { migrate } from "./migrate.ts";
export { postgresLimits } from "./postgres-limits.ts";
export { PostgresRuns, postgresRuns, type WorkerReport } from "./postgres-runs.ts";
export type { QueryResult, QueryTable, RunQuery } from "./read-only-query.ts";
export type { RunInfo, RunSetup, RunState, WorkerInfo } from "./run-info.ts";
<<<<<<< HEAD
export type { RunRow } from "./run-rows.ts";
export type { Cell } from "./run-statement.ts";
=======
export type { NewIds, RunRow } from "./run-rows.ts";
>>>>>>> 964a054 (wip)
