import {
  type AnswerRow,
  forgetAnswers,
  readEvaluation,
  readRecordSamples,
  samplesFor,
} from "./answers.ts";
import { CHUNK_SIZE, type LeasedChunk } from "./chunk-queue.ts";
import { DatabaseError } from "./database-error.ts";
import type { Query } from "./database.ts";
import { type Sample, unpackJson } from "./packed-text.ts";

/** A record that is to be asked about. */
export interface ChunkRecord {
  /** Its index in the run. */
  readonly idx: number;
  readonly id: string;
  readonly key: string;
  /** What the model reads, as JSON. */
  readonly state: string;
}

interface Row extends Partial<AnswerRow> {
  readonly idx: number;
  readonly id: string;
  readonly key: string;
  readonly state: string;
  readonly cost_usd: number | null;
}

/**
 * Returns the records of a chunk that have neither an answer as it was written nor a failure, so that
 * a chunk that comes back repeats only what was in flight; and what the run has paid for the others.
 */
export async function readChunk(
  query: Query,
  { run, chunk }: LeasedChunk,
): Promise<{ missing: ChunkRecord[]; costUsd: number }> {
  const first = chunk * CHUNK_SIZE;
  const kept = await query<Row>("select * from evaluator.read_records($1, $2, $3)", [
    run,
    first,
    first + CHUNK_SIZE,
  ]);
  const sample = kept.length === 0 ? null : (await readRecordSamples(query, run)).state;
  const rows = kept.map((row) => Object.assign(row, { state: stateOf(row, run, sample) }));
  const samples = await samplesFor(query, rows);
  const isThere = (row: Row) =>
    row.digest != null && readEvaluation(row as AnswerRow, samples, row.state) !== null;
  const missing = rows.filter((row) => !isThere(row));
  const changed = missing.filter(({ digest }) => digest != null);
  await forgetAnswers(
    query,
    changed.map(({ key }) => key),
  );
  const costUsd = rows.reduce((sum, row) => sum + (isThere(row) ? (row.cost_usd ?? 0) : 0), 0);
  return {
    missing: missing.map(({ idx, id, key, state }) => ({
      idx,
      id: JSON.parse(id) as string,
      key,
      state,
    })),
    costUsd,
  };
}

function stateOf({ idx, state }: Row, run: number, sample: Sample | null): string {
  const whole = unpackJson(state, sample);
  if (whole !== null) return whole;
  const what = `Record ${idx} of run ${run} is not as it was written`;
  const remedy = `Remove the run with evaluator.forget_run(${run}), and load it again.`;
  throw new DatabaseError(`${what}. ${remedy}`, { failure: "other" });
}
