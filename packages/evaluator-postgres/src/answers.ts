import { hash } from "node:crypto";
import type { Query } from "./database.ts";

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

/** What is known of an answer: there as it was written, there and changed since, or not there. */
export type AnswerStatus = "answered" | "changed" | "unknown";

/** The columns of `evaluator.answers` that show whether it is as it was written. */
export interface AnswerRow {
  readonly key: string;
  readonly state_digest: Buffer;
  readonly evaluation: string;
  readonly digest: Buffer;
}

/** Returns the digests of an answer, as they are written beside it. */
export function digestsOf({ key, state, evaluation }: KeptAnswer): [Buffer, Buffer] {
  const stateDigest = hash("sha256", state, "buffer");
  return [stateDigest, digestOf(key, stateDigest, evaluation)];
}

function digestOf(key: string, stateDigest: Uint8Array, evaluation: string): Buffer {
  const state = Buffer.from(stateDigest).toString("base64url");
  return hash("sha256", `${key}\n${state}\n${evaluation}`, "buffer");
}

/** Returns whether an answer is still as it was written, and about the state where that is known. */
export function isAsWritten(row: AnswerRow, state?: string): boolean {
  const { key, state_digest: stateDigest, evaluation, digest } = row;
  if (!digestOf(key, stateDigest, evaluation).equals(digest)) return false;
  return state === undefined || hash("sha256", state, "buffer").equals(stateDigest);
}

/** Returns for each key whether its answer is there as it was written. */
export async function statusesOf(query: Query, keys: readonly string[]): Promise<AnswerStatus[]> {
  const rows = await query<AnswerRow>(
    "select key, state_digest, evaluation, digest from evaluator.answers where key = any($1)",
    [keys],
  );
  const known = new Map(rows.map((row) => [row.key, isAsWritten(row)]));
  return keys.map((key) => {
    const isWhole = known.get(key);
    if (isWhole === undefined) return "unknown";
    return isWhole ? "answered" : "changed";
  });
}

/** Forgets answers that are not as they were written, so that they are asked for again. */
export async function forgetAnswers(query: Query, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await query("delete from evaluator.answers where key = any($1)", [keys]);
}
