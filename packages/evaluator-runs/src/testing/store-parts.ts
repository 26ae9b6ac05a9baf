// For a store of runs in another workspace, with the same writer and answers as PostgreSQL's.
export { AnswerWriter } from "../postgres/answer-writer.ts";
export { readEvaluation, toRunKey } from "../postgres/answers.ts";
export { DatabaseError, toDatabaseError } from "../postgres/database-error.ts";
export type { Query } from "../postgres/database.ts";
export { Sample } from "../postgres/packed-text.ts";
export type { RunStore, RunWriter } from "../postgres/index.ts";
export { CHUNK_SIZE } from "../store/run-store.ts";
