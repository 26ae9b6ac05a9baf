import { hash } from "node:crypto";
import type { NewRun, RunRecord } from "../store/run-store.ts";

/** A record, and its index in its run. */
export type SampleRecord = RunRecord & { readonly idx: number };

/** Returns a record for each id. */
export function recordsNamed(...ids: string[]): SampleRecord[] {
  return ids.map((id, idx) => ({ idx, id, key: keyOf(id), state: JSON.stringify({ about: id }) }));
}

/** Returns the key of a record. */
export function keyOf(id: string): string {
  return hash("sha256", id);
}

/** Returns a number of records. */
export function countedTo(count: number): SampleRecord[] {
  return recordsNamed(...Array.from({ length: count }, (_, index) => `m-${index}`));
}

/** Returns a run over records. */
export function newRun(records: readonly RunRecord[], fields: Partial<NewRun> = {}): NewRun {
  const setup = { hash: "setup", wire: "gateway", modelId: "m", questions: "{}" };
  const digest = hash("sha256", JSON.stringify(records));
  const facts = { name: "inbox.json", facts: "{}", maxCostUsd: null };
  return { digest, setup, ...facts, records: records.length, ...fields };
}

/** Returns an answer to a record. */
export function answerTo({ idx, key, state }: SampleRecord, text = "{}") {
  return { idx, key, state, evaluation: text, inputTokens: 300, costUsd: 0.25 };
}

/** A call that failed, and may succeed later. */
export const failure = { error: "The service is down.", isRetryable: true, isFinal: false };
