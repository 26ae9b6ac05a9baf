import type { RunRecord } from "../input/record-source.ts";

/** A record of a run, and its outcome. */
export interface RunRow {
  readonly idx: number;
  readonly id: string;
  /** The key of its answer. */
  readonly key: string;
  /** The state for the model, as JSON. */
  readonly state: string;
  /** The caller's note, as JSON; null without one. */
  readonly note: string | null;
  /** The answer as JSON; null without a valid one. */
  readonly evaluation: string | null;
  /** Whether the stored answer changed since it was written. */
  readonly isChanged: boolean;
  /** Whether this run asked for the answer, and not an earlier one. */
  readonly isOwn: boolean;
  /** The failure, or null. */
  readonly error: string | null;
  /** Whether the service refuses the record each time, if that is known. */
  readonly isRefused?: boolean;
  /** Whether the answer was compared with the questions of its run before it was kept. @default false */
  readonly isChecked?: boolean;
  /** The record itself, if the store reads it from its input. @default state and note */
  readonly input?: RunRecord | undefined;
}

/** A value of a row. */
export type Cell = string | number | boolean | null;

/** A table that a person's query reads. */
export interface QueryTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: "text" | "number" | "json" }[];
}

/** A person's query about a run. */
export interface RunQuery {
  /** One statement that begins with select, with or values. */
  readonly text: string;
  readonly run: number;
  /** Filled with the records of the run. */
  readonly tables: readonly QueryTable[];
  /** Returns for each table the cells that a record has there; null for none. */
  readonly cellsOf: (row: RunRow) => readonly (readonly Cell[] | null)[];
  /** Filled with rows that are given. */
  readonly given: readonly (QueryTable & { readonly rows: readonly (readonly Cell[])[] })[];
  /** Ends the query, on the server too. */
  readonly signal: AbortSignal;
  /** So long after its tables are filled the query ends. @default 60_000 */
  readonly timeoutMs?: number;
  /** Whether to allow a role that can act outside the transaction. @default false */
  readonly allowSuperuser?: boolean;
}

/** The result of a query, row by row. */
export interface QueryResult {
  readonly names: readonly string[];
  readonly rows: AsyncIterable<readonly Cell[]>;
  /** Whether the role may write the tables of the workers, and end their connections. */
  readonly ownsJournal: boolean;
}
