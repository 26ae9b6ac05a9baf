import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type AnswerRow, readEvaluation, readSamples, readRecordSamples } from "./answers.ts";
import type { Database, Query } from "./database.ts";
import { unpackJson } from "./packed-text.ts";

/** A record of a run, and its outcome. */
export interface RunRow {
  readonly idx: number;
  readonly id: string;
  readonly key: string;
  /** The state, as JSON. */
  readonly state: string;
  /** The caller's note, as JSON; null without one. */
  readonly note: string | null;
  /** The answer as JSON; null without a valid one. */
  readonly evaluation: string | null;
  /** Whether the stored answer changed since it was written. */
  readonly isChanged: boolean;
  /** The failure, or null. */
  readonly error: string | null;
}

const columns = {
  idx: "r.idx",
  id: "r.id",
  key: "r.key",
  state: "r.state",
  stateDigest: "encode(a.state_digest, 'hex')",
  digest: "encode(a.digest, 'hex')",
  setup: "a.setup",
  evaluation: "a.evaluation",
  error: "f.error",
  note: "r.note",
};
const textFields = Object.entries(columns)
  .map(([name, sql]) => `(${sql})::text as "${name}"`)
  .join(", ");
const source = `
  evaluator.records r left join evaluator.answers a on a.key = r.key
    left join evaluator.failures f on f.run = r.run and f.idx = r.idx
`;

/** Streams the records of a run in input order, from one snapshot. */
export async function* runRows(database: Database, run: number): AsyncGenerator<RunRow> {
  const batches = new PassThrough({ objectMode: true, highWaterMark: 1 });
  // The transaction is open while rows are read; an early return closes the connection.
  const done = database
    .transaction(async ({ query }) => {
      await query("set transaction isolation level repeatable read, read only");
      // A plan that does not sort, so that the first row comes at once.
      for (const plan of ["hashjoin", "mergejoin", "sort"])
        await query(`set local enable_${plan} = off`);
      await pipeline(rowBatches(query, run), batches);
    })
    .catch((error: unknown) => void batches.destroy(error as Error));
  try {
    for await (const rows of batches as AsyncIterable<RunRow[]>) yield* rows;
  } finally {
    await done;
  }
}

type RowSamples = Awaited<ReturnType<typeof readRowSamples>>;

async function readRowSamples(query: Query, run: number) {
  return { answers: await readSamples(query), records: await readRecordSamples(query, run) };
}

type TextRow = Readonly<Record<keyof typeof columns, string | null>>;

function toRow(cells: TextRow, samples: RowSamples): RunRow {
  const { setup, evaluation: packed, note } = cells;
  const row = {
    key: cells.key ?? "",
    state_digest: cells.stateDigest ?? "",
    digest: cells.digest ?? "",
    setup: setup === null ? null : Number(setup),
    evaluation: packed ?? "",
  } satisfies AnswerRow;
  const isThere = packed !== null;
  const state = unpackJson(cells.state ?? "null", samples.records.state) ?? "null";
  const evaluation = isThere ? readEvaluation(row, samples.answers, state) : null;
  return {
    idx: Number(cells.idx),
    id: JSON.parse(cells.id ?? '""') as string,
    key: row.key,
    state,
    note: note === null ? null : unpackJson(note, samples.records.note),
    evaluation,
    isChanged: isThere && evaluation === null,
    error: cells.error,
  };
}

// Chosen, not measured: few round trips, in little memory.
const BATCH = 500;

/** Returns the records of a run in input order, some at once, over the connection of a transaction. */
export async function* rowBatches(query: Query, run: number): AsyncGenerator<RunRow[]> {
  const samples = await readRowSamples(query, run);
  await query(
    `declare evaluator_rows no scroll cursor for
     select ${textFields} from ${source} where r.run = ${run} order by r.idx`,
  );
  for (;;) {
    const rows = await query<TextRow>(`fetch ${BATCH} from evaluator_rows`);
    if (rows.length === 0) return;
    yield rows.map((row) => toRow(row, samples));
  }
}

/** The records that are new since earlier runs. */
export interface NewIds {
  readonly ids: ReadonlySet<string>;
  /** When the last of the runs before was done, in ISO 8601. */
  readonly since: string;
}

/** Returns the ids that are new since the complete runs of the same name; null without any. */
export async function findNewIds(
  query: Query,
  { run, name }: { readonly run: number; readonly name: string },
): Promise<NewIds | null> {
  const before = await query<{ run: number; since: Date }>(
    `select run, finished_at as since from evaluator.runs
     where name = $1 and run < $2 and state = 'done' order by finished_at`,
    [name, run],
  );
  const last = before.at(-1);
  if (last === undefined) return null;
  const rows = await query<{ id: string }>(
    // Not "not exists": with a table that was just filled, its plan compared each row with each.
    `select id from evaluator.records where run = $1
     except select id from evaluator.records where run = any($2::integer[])`,
    [run, before.map(({ run }) => run)],
  );
  if (rows.length === 0) return null;
  const ids = new Set(rows.map(({ id }) => JSON.parse(id) as string));
  return { ids, since: last.since.toISOString() };
}

/** Returns a record by its id: of one run, or of the newest that has it. */
export async function findRecord(
  query: Query,
  id: string,
  run: number | null,
): Promise<(RunRow & { run: number }) | null> {
  const [row] = await query<TextRow & { run: number }>(
    `select r.run, ${textFields}
     from ${source} where r.id = $1 and ($2::integer is null or r.run = $2)
     order by r.run desc limit 1`,
    [JSON.stringify(id), run],
  );
  if (row === undefined) return null;
  return { ...toRow(row, await readRowSamples(query, row.run)), run: row.run };
}
