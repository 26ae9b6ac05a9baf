import type { PostgresRuns } from "./postgres/index.ts";

/** A store of runs, with the methods of {@link PostgresRuns} and PostgreSQL's rules of commits. */
export type RunStore = Pick<PostgresRuns, keyof PostgresRuns>;

/** Commits the outcomes of the calls of a run. */
export type RunWriter = ReturnType<RunStore["writer"]>;
