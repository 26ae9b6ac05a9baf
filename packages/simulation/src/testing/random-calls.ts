import type { NewRun, RecordEnd, RunRecord, WorkerReport } from "evaluator-runs/postgres";
import type { Random } from "../time/random.ts";

/** A call of a store, or a change from outside. */
export type StoreCall = { readonly session: number } & (
  | {
      readonly what: "join";
      readonly input: number;
      readonly maxCostUsd: number | null;
      readonly dies: boolean;
    }
  | { readonly what: "keep"; readonly run: number; readonly ends: readonly RecordEnd[] }
  | { readonly what: "reserve"; readonly lease: number; readonly usd: number }
  | { readonly what: "finish"; readonly lease: number; readonly usd: number }
  | { readonly what: "readChunk" | "touch"; readonly lease: number }
  | { readonly what: "answerAll"; readonly lease: number; readonly isFirstFailed: boolean }
  | {
      readonly what: "fetchChunk" | "workers" | "refused" | "newIds" | "forgetRun";
      readonly run: number;
    }
  | { readonly what: "stop"; readonly run: number; readonly why: string }
  | { readonly what: "reopen"; readonly run: number; readonly lost: readonly number[] }
  | { readonly what: "report"; readonly report: WorkerReport }
  | { readonly what: "leave"; readonly worker: string }
  | { readonly what: "list" }
  | { readonly what: "statusesOf"; readonly keys: readonly string[] }
  | { readonly what: "find"; readonly id: string; readonly run: number | null }
  | { readonly what: "changeAnswer"; readonly key: string }
  | { readonly what: "changeState"; readonly run: number; readonly idx: number }
  | { readonly what: "passTime" | "stepClock"; readonly ms: number }
);

const SESSIONS = 3;
const HOUR_MS = 3_600_000;
// Runs of one and of two chunks, which share records, and one without records.
const inputs = [3, 101, 3, 104, 0].map((count, at) => toRun(count, at));

function toRun(count: number, at: number) {
  const toRecord = (_: unknown, index: number): RunRecord => {
    const id = `m-${at === 2 ? index + 2 : index}`;
    const note = index % 2 === 0 ? null : `{"of":${at}}`;
    return { id, key: `key-${id}`, state: `{"about":"${id}"}`, note };
  };
  const records = Array.from({ length: count }, toRecord);
  const setup = { hash: `setup-${at % 2}`, wire: "gateway", modelId: "m", questions: "{}" };
  const names = { digest: `run-${at}`, name: `inbox-${at % 2}.json`, facts: "{}" };
  return { records, made: { ...names, setup, records: count, maxCostUsd: null } satisfies NewRun };
}

/** Returns a run to load, and its records. */
export function inputAt(at: number): ReturnType<typeof toRun> {
  return inputs[at] ?? toRun(0, at);
}

/** The keys of all records. */
export const allKeys = [...new Set(inputs.flatMap(({ records }) => records.map(({ key }) => key)))];

/** Draws a sequence of calls. */
export function randomCalls(random: Random, count: number): StoreCall[] {
  const first = {
    what: "join",
    session: 0,
    input: random.whole(0, 3),
    maxCostUsd: null,
    dies: false,
  } as const;
  return [first, ...Array.from({ length: count - 1 }, () => randomCall(random))];
}

function randomCall(random: Random): StoreCall {
  const session = random.whole(0, SESSIONS - 1);
  const lease = random.whole(0, 1);
  const run = random.chance(0.6) ? 1 : random.whole(2, 3);
  const draw = random.whole(0, 99);
  if (draw < 8) {
    const [input, maxCostUsd] = [random.whole(0, 4), random.pick([null, 1, 10])];
    return { session, what: "join", input, maxCostUsd, dies: random.chance(0.2) };
  }
  if (draw < 27) {
    const ends = random.chance(0.15) ? failuresInARow(random.whole(4, 12)) : randomEnds(random);
    return { session, what: "keep", run, ends };
  }
  if (draw < 34) {
    return { session, what: "answerAll", lease, isFirstFailed: random.chance(0.3) };
  }
  if (draw < 44) return { session, what: "fetchChunk", run };
  if (draw < 52) return { session, what: "reserve", lease, usd: random.whole(0, 12) / 4 };
  if (draw < 58) return { session, what: "readChunk", lease };
  if (draw < 63) return { session, what: "touch", lease };
  if (draw < 72) return { session, what: "finish", lease, usd: random.whole(0, 12) / 4 };
  if (draw < 74) return { session, what: "stop", run, why: random.pick(["late", "dear"]) };
  if (draw < 77) return { session, what: "reopen", run, lost: [random.whole(0, 103)] };
  if (draw < 80) return { session, what: "report", report: randomReport(random, run) };
  if (draw < 81) return { session, what: "leave", worker: "w-0" };
  if (draw < 86) return { session, what: random.pick(["workers", "refused", "newIds"]), run };
  if (draw < 88) return { session, what: "list" };
  if (draw < 90) return { session, what: "statusesOf", keys: allKeys.slice(0, 6) };
  if (draw < 92)
    return { session, what: "find", id: `m-${random.whole(0, 5)}`, run: random.pick([null, run]) };
  if (draw < 94) return { session, what: "changeAnswer", key: random.pick(allKeys.slice(0, 4)) };
  if (draw < 95) return { session, what: "changeState", run: 1, idx: random.whole(0, 2) };
  if (draw < 97) return { session, what: "forgetRun", run };
  if (draw < 99) return { session, what: "passTime", ms: random.pick([1000, 4000, 11_000]) };
  return {
    session,
    what: "stepClock",
    ms: random.pick([-2 * HOUR_MS, -5000, 7000, 400 * 24 * HOUR_MS]),
  };
}

function failuresInARow(count: number): RecordEnd[] {
  return Array.from({ length: count }, (_, idx) => {
    return { idx, error: `It fails: ${idx}.`, isRetryable: true, isFinal: false };
  });
}

function randomEnds(random: Random): RecordEnd[] {
  return Array.from({ length: random.whole(1, 5) }, () => randomEnd(random));
}

// Most ends are about few records, so that they meet.
function randomEnd(random: Random): RecordEnd {
  const idx = random.chance(0.8) ? random.whole(0, 3) : random.whole(0, 103);
  if (random.chance(0.55)) {
    const state = `{"about":"m-${idx}"}`;
    const evaluation = JSON.stringify({ by: random.whole(0, 9), model: "m" });
    return {
      idx,
      key: `key-m-${idx}`,
      state,
      evaluation,
      inputTokens: 300,
      costUsd: random.pick([0.25, null]),
    };
  }
  const kind = random.whole(0, 19);
  // The same for a record, as a later run takes the refusal of any run before.
  const error = kind === 0 ? "no\0text" : `It fails: ${idx}.`;
  const flags = { isFinal: kind === 1, isRefusal: kind < 5, isRetryable: kind > 7 };
  return { idx, error, ...flags };
}

function randomReport(random: Random, run: number): WorkerReport {
  const counts = { answered: random.whole(0, 9), failed: 0, inFlight: 2, perSecond: 1.5 };
  return { worker: `w-${random.whole(0, 2)}`, name: `here-${random.whole(0, 2)}`, run, ...counts };
}
