import { hash } from "node:crypto";
import type { Query } from "./database.ts";
import { type Sample, toSample, unpack } from "./packed-text.ts";

/** An answer as it is kept: by the key of its content, with a digest that shows any change. */
export interface KeptAnswer {
  /** A hash of what was asked and of whom. */
  readonly key: string;
  /** The state that was asked about, as JSON. */
  readonly state: string;
  /** What came, as JSON. */
  readonly evaluation: string;
  readonly inputTokens: number;
  readonly costUsd: number;
}

/** What is known of an answer: there as it was written, there and changed since, refused for good, or not there. */
export type AnswerStatus = "answered" | "changed" | "refused" | "unknown";

/** The columns of `evaluator.answers` that an answer is read from. */
export interface AnswerRow {
  readonly key: string;
  /** Of the sample that the evaluation is the difference to; null where it is kept whole. */
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

/** The samples that answers are kept as the difference to, by their setup. */
export type Samples = ReadonlyMap<number, Sample>;

/** Returns all samples; one that an answer needs was committed before it. */
export async function readSamples(query: Query): Promise<Samples> {
  const rows = await query<{ setup: number; sample: string }>(
    "select setup, sample from evaluator.setups where sample is not null",
  );
  return new Map(rows.map(({ setup, sample }) => [setup, toSample(sample)]));
}

/** What a run's states and notes are the difference to; null for a run without any. */
export interface RecordSamples {
  readonly state: Sample | null;
  readonly note: Sample | null;
}

/** Returns what a run's states and notes are the difference to. */
export async function readRecordSamples(query: Query, run: number): Promise<RecordSamples> {
  const [row] = await query<{ state: string | null; note: string | null }>(
    "select state_sample as state, note_sample as note from evaluator.runs where run = $1",
    [run],
  );
  return { state: sampleOf(row?.state), note: sampleOf(row?.note) };
}

function sampleOf(text: string | null | undefined): Sample | null {
  return text == null ? null : toSample(text);
}

// A digest tells a damaged row, for which half of SHA-256 is plenty; in hexadecimal here.
const DIGEST_LENGTH = 32;
const STATE_DIGEST_LENGTH = 16;

/** Returns the digests of an answer, as they are written beside it. */
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

/**
 * Returns the evaluation of an answer that is still as it was written, and about the state where that
 * is known; null for any other.
 */
export function readEvaluation(row: AnswerRow, samples: Samples, state?: string): string | null {
  const { key, setup, state_digest: stateDigest, digest } = row;
  const sample = setup === null ? null : samples.get(setup);
  if (sample === undefined) return null;
  const evaluation = sample === null ? row.evaluation : unpack(row.evaluation, sample);
  if (evaluation === null || digestOf(key, stateDigest, evaluation) !== digest) return null;
  return state === undefined || digestOfState(state) === stateDigest ? evaluation : null;
}

/** Returns for each key whether its answer is there as it was written. */
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

/** Returns the samples that rows need; asks for none where they need none. */
export async function samplesFor(
  query: Query,
  rows: readonly Partial<AnswerRow>[],
): Promise<Samples> {
  return rows.some(({ setup }) => setup != null) ? await readSamples(query) : new Map();
}

/** Forgets answers that are not as they were written, so that they are asked for again. */
export async function forgetAnswers(query: Query, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await query("delete from evaluator.answers where key = any($1)", [keys]);
}
