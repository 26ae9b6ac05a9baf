import { hash } from "node:crypto";
import { CHUNK_SIZE, type LeasedChunk } from "./chunk-queue.ts";
import { DatabaseError } from "./database-error.ts";
import type { Query } from "./database.ts";
import { type Sample, toSample, unpack, unpackJson } from "./packed-text.ts";

/** An answer, stored under a key of its content, with a digest that detects changes. */
export interface KeptAnswer {
  /** A hash of the call and the service. */
  readonly key: string;
  /** The state of the call, as JSON. */
  readonly state: string;
  /** The evaluation, as JSON. */
  readonly evaluation: string;
  readonly inputTokens: number;
  readonly costUsd: number;
}

/** Whether an answer is unchanged, changed since it was written, refused for good, or missing. */
export type AnswerStatus = "answered" | "changed" | "refused" | "unknown";

/** The columns of `evaluator.answers` that an answer is read from. */
export interface AnswerRow {
  readonly key: string;
  /** The setup of the sample that the evaluation is packed with; null if it is not packed. */
  readonly setup: number | null;
  /** In hexadecimal, as the next. */
  readonly state_digest: string;
  readonly evaluation: string;
  readonly digest: string;
}

/** The columns of `evaluator.answers`, named "a", that make up such a row. */
const answerColumns = `
  a.setup, encode(a.state_digest, 'hex') as state_digest, a.evaluation,
  encode(a.digest, 'hex') as digest
`;

/** The samples that answers are packed with, by their setup. */
export type Samples = ReadonlyMap<number, Sample>;

/** Returns all samples; each was committed before the answers that need it. */
export async function readSamples(query: Query): Promise<Samples> {
  const rows = await query<{ setup: number; sample: string }>(
    "select setup, sample from evaluator.setups where sample is not null",
  );
  return new Map(rows.map(({ setup, sample }) => [setup, toSample(sample)]));
}

/** Returns the samples that a run's states and notes are packed with; null for a run without any. */
export async function readRecordSamples(query: Query, run: number) {
  const [row] = await query<{ state: string | null; note: string | null }>(
    "select state_sample as state, note_sample as note from evaluator.runs where run = $1",
    [run],
  );
  return { state: sampleOf(row?.state), note: sampleOf(row?.note) };
}

function sampleOf(text: string | null = null): Sample | null {
  return text === null ? null : toSample(text);
}

// Half of SHA-256 detects any damage; lengths are in hexadecimal digits.
const DIGEST_LENGTH = 32;
const STATE_DIGEST_LENGTH = 16;

/** Returns the digests that are stored with an answer. */
export function digestsOf({ key, state, evaluation }: KeptAnswer): [Buffer, Buffer] {
  const stateDigest = digestOfState(state);
  const digest = digestOf(key, stateDigest, evaluation);
  return [Buffer.from(stateDigest, "hex"), Buffer.from(digest, "hex")];
}

function digestOfState(state: string): string {
  return hash("sha256", state).slice(0, STATE_DIGEST_LENGTH);
}

function digestOf(key: string, stateDigest: string, evaluation: string): string {
  const text = `${key}\n${stateDigest}\n${evaluation}`;
  return hash("sha256", text).slice(0, DIGEST_LENGTH);
}

/** Returns the evaluation of an unchanged answer; null if it changed or is about another state. */
export function readEvaluation(row: AnswerRow, samples: Samples, state?: string): string | null {
  const { key, setup, state_digest: stateDigest, digest } = row;
  const sample = setup === null ? null : samples.get(setup);
  if (sample === undefined) return null;
  const evaluation = sample === null ? row.evaluation : unpack(row.evaluation, sample);
  if (evaluation === null || digestOf(key, stateDigest, evaluation) !== digest) return null;
  return state === undefined || digestOfState(state) === stateDigest ? evaluation : null;
}

/** Returns the status of the answer of each key. */
export async function statusesOf(query: Query, keys: readonly string[]): Promise<AnswerStatus[]> {
  const rows = await query<AnswerRow>(
    `select a.key, ${answerColumns} from evaluator.answers a where a.key = any($1)`,
    [keys],
  );
  const samples = await samplesFor(query, rows);
  const known = new Map(rows.map((row) => [row.key, readEvaluation(row, samples) !== null]));
  const refusals = await query<{ key: string }>(
    "select key from evaluator.refusals where key = any($1)",
    [keys.filter((key) => !known.has(key))],
  );
  const refused = new Set(refusals.map(({ key }) => key));
  return keys.map((key) => {
    const isWhole = known.get(key);
    if (isWhole === undefined) return refused.has(key) ? "refused" : "unknown";
    return isWhole ? "answered" : "changed";
  });
}

// No query if no row needs a sample.
async function samplesFor(query: Query, rows: readonly Partial<AnswerRow>[]): Promise<Samples> {
  return rows.some(({ setup }) => setup != null) ? await readSamples(query) : new Map();
}

/** A record without an answer. */
export interface ChunkRecord {
  /** Its index in the run. */
  readonly idx: number;
  readonly id: string;
  readonly key: string;
  /** The state for the model, as JSON. */
  readonly state: string;
}

interface ChunkRow extends Partial<AnswerRow> {
  readonly idx: number;
  readonly id: string;
  readonly key: string;
  readonly state: string;
  readonly cost_usd: number | null;
}

/**
 * Returns the records of a chunk without a valid answer or a failure, so that a chunk of a dead worker
 * repeats only the calls in flight; and the cost of the other records.
 */
export async function readChunk(
  query: Query,
  { run, chunk }: LeasedChunk,
): Promise<{ missing: ChunkRecord[]; costUsd: number }> {
  const first = chunk * CHUNK_SIZE;
  const range = [run, first, first + CHUNK_SIZE];
  const kept = await query<ChunkRow>("select * from evaluator.read_records($1, $2, $3)", range);
  const sample = kept.length === 0 ? null : (await readRecordSamples(query, run)).state;
  const rows = kept.map((row) => Object.assign(row, { state: stateOf(row, run, sample) }));
  const samples = await samplesFor(query, rows);
  const isThere = (row: ChunkRow) =>
    row.digest != null && readEvaluation(row as AnswerRow, samples, row.state) !== null;
  const missing = rows.filter((row) => !isThere(row));
  // Changed answers are deleted, so that they are asked for again.
  const changed = missing.flatMap(({ key, digest }) => (digest == null ? [] : [key]));
  if (changed.length > 0) {
    await query("delete from evaluator.answers where key = any($1)", [changed]);
  }
  const costUsd = rows.reduce((sum, row) => sum + (isThere(row) ? (row.cost_usd ?? 0) : 0), 0);
  return {
    missing: missing.map(({ idx, id, key, state }) => {
      return { idx, id: JSON.parse(id) as string, key, state };
    }),
    costUsd,
  };
}

function stateOf({ idx, state }: ChunkRow, run: number, sample: Sample | null): string {
  const whole = unpackJson(state, sample);
  if (whole !== null) return whole;
  const what = `Record ${idx} of run ${run} is not as it was written`;
  const remedy = `Remove the run with evaluator.forget_run(${run}), and load it again.`;
  throw new DatabaseError(`${what}. ${remedy}`, { failure: "other" });
}
