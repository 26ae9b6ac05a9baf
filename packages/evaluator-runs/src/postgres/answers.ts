import { hash } from "node:crypto";
import type { Query } from "./database.ts";
import { Sample } from "./packed-text.ts";

// 132 bits identify a call among any number; the database writes a key four times for each record.
const longKey = /^([\w-]{22})[\w-]{21}(?=#|$)/;

/** Returns the form in which the database keeps a key: of a SHA-256 in base64url the first half. */
export function toRunKey(callKey: string): string {
  return callKey.replace(longKey, "$1");
}

/** The columns of `evaluator.answers` that an answer is read from; null without an answer. */
export interface AnswerRow {
  readonly key: string;
  /** The setup of the sample that the evaluation is packed with; null if it is not packed. */
  readonly setup: number | null;
  /** In hexadecimal, as `digest`. */
  readonly state_digest: string | null;
  readonly evaluation: string | null;
  readonly digest: string | null;
}

/** What texts are packed with: answers by the number of their setup, states and notes of a run. */
type Samples = ReadonlyMap<string, Sample>;

/** Returns the samples of all answers, and of a run; each was committed before the texts that need it. */
export async function readSamples(query: Query, runNumber: number | null = null): Promise<Samples> {
  const sampleRows = await query<{ name: string; sample: string | null }>(
    `select setup::text as name, sample from evaluator.setups
     union all select 'state', state_sample from evaluator.runs where run = $1
     union all select 'note', note_sample from evaluator.runs where run = $1`,
    [runNumber],
  );
  return new Map(
    sampleRows.flatMap(({ name, sample }) => (sample === null ? [] : [[name, new Sample(sample)]])),
  );
}

// Half of SHA-256 detects any damage; lengths are in hexadecimal digits.
const DIGEST_LENGTH = 32;
const STATE_DIGEST_LENGTH = 16;

/** Returns the digests that are stored with an answer. */
export function listDigests(keptAnswer: Record<"key" | "state" | "evaluation", string>) {
  const stateDigest = digestOfState(keptAnswer.state);
  const answerDigest = toDigest(keptAnswer.key, stateDigest, keptAnswer.evaluation);
  return [Buffer.from(stateDigest, "hex"), Buffer.from(answerDigest, "hex")] as const;
}

function digestOfState(stateText: string): string {
  return hash("sha256", stateText).slice(0, STATE_DIGEST_LENGTH);
}

function toDigest(key: string, stateDigest: string, evaluation: string): string {
  const digestedText = `${key}\n${stateDigest}\n${evaluation}`;
  return hash("sha256", digestedText).slice(0, DIGEST_LENGTH);
}

/** Returns the evaluation of an unchanged answer; null if it changed or is about another state. */
export function readEvaluation(row: AnswerRow, samples: Samples, state?: string): string | null {
  const { key, setup, state_digest: stateDigest, digest } = row;
  if (row.evaluation === null || stateDigest === null) return null;
  const setupSample = setup === null ? null : samples.get(String(setup));
  if (setupSample === undefined) return null;
  const evaluation = setupSample === null ? row.evaluation : setupSample.unpack(row.evaluation);
  if (evaluation === null || toDigest(key, stateDigest, evaluation) !== digest) return null;
  return state === undefined || digestOfState(state) === stateDigest ? evaluation : null;
}
