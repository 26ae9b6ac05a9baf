import type {
  LeasedChunk,
  NewRun,
  RecordEnd,
  RunRecord,
  WorkerReport,
} from "evaluator-runs/postgres";
import type { RunStore } from "evaluator-runs/store-parts";
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
  | { readonly what: "readChunk" | "touch" | "finish"; readonly lease: number }
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

/** A store with three sessions, the leases that were handed out, and the means to change it. */
export interface PlayedStore {
  readonly sessions: readonly RunStore[];
  readonly leases: LeasedChunk[];
  changeAnswer(key: string): Promise<void>;
  changeState(run: number, idx: number): Promise<void>;
  forgetRun(run: number): Promise<void>;
  passTime(ms: number): Promise<void>;
  stepClock(ms: number): Promise<void>;
}

const SESSIONS = 3;
const HOUR_MS = 3_600_000;
// Runs of one, two and three chunks, one with the records of another one, and one without records.
const inputs = [3, 105, 3, 205, 0].map((count, at) => toRun(count, at));

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

const allKeys = [...new Set(inputs.flatMap(({ records }) => records.map(({ key }) => key)))];

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
  if (draw < 34) {
    const ends = Array.from({ length: random.whole(1, 5) }, () => randomEnd(random));
    return { session, what: "keep", run, ends };
  }
  if (draw < 44) return { session, what: "fetchChunk", run };
  if (draw < 52) return { session, what: "reserve", lease, usd: random.whole(0, 12) / 4 };
  if (draw < 58) return { session, what: "readChunk", lease };
  if (draw < 63) return { session, what: "touch", lease };
  if (draw < 72) return { session, what: "finish", lease };
  if (draw < 74) return { session, what: "stop", run, why: random.pick(["late", "dear"]) };
  if (draw < 77) return { session, what: "reopen", run, lost: [random.whole(0, 110)] };
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

// Most ends are about few records, so that they meet.
function randomEnd(random: Random): RecordEnd {
  const idx = random.chance(0.8) ? random.whole(0, 3) : random.whole(0, 204);
  if (random.chance(0.55)) {
    const state = `{"about":"m-${idx}"}`;
    const evaluation = JSON.stringify({ by: random.whole(0, 9), model: "m" });
    return { key: `key-m-${idx}`, state, evaluation, inputTokens: 300, costUsd: 0.25 };
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

/** Makes a call, and returns what it returned or threw. */
export async function play(call: StoreCall, store: PlayedStore): Promise<unknown> {
  try {
    return await outcomeOf(call, store);
  } catch (error) {
    const { name, message, failure, code } = error as Error & { failure?: string; code?: string };
    return { name, message: message.split(/[.(]/, 1), failure, code };
  }
}

async function outcomeOf(call: StoreCall, store: PlayedStore): Promise<unknown> {
  const runs = store.sessions[call.session];
  if (runs === undefined) throw new RangeError(`There is no session ${call.session}.`);
  const { signal } = new AbortController();
  if ("lease" in call) {
    const lease = store.leases.at(-1 - call.lease);
    if (lease === undefined) return "no lease";
    return call.what === "reserve"
      ? await runs.reserve(lease, call.usd)
      : await runs[call.what](lease);
  }
  let outcome: unknown = null;
  switch (call.what) {
    case "join": {
      const { made, records } = inputs[call.input] ?? toRun(0, 0);
      const loaded = call.dies ? dying(records) : ReadableStream.from(records);
      outcome = await runs.join({ ...made, maxCostUsd: call.maxCostUsd }, () => loaded, signal);
      break;
    }
    case "keep": {
      const writer = runs.writer({ run: call.run, signal });
      const kept = await Promise.allSettled(call.ends.map((end) => writer.keep(end)));
      outcome = kept.map((end) => (end.status === "fulfilled" ? null : end.reason.code));
      break;
    }
    case "fetchChunk": {
      outcome = await fetched(call.run, runs, store.leases);
      break;
    }
    case "newIds": {
      outcome = await runs.newIds(await runs.get(call.run));
      break;
    }
    case "workers":
    case "refused": {
      outcome = await runs[call.what](call.run);
      break;
    }
    case "stop": {
      await runs.stop(call.run, call.why);
      break;
    }
    case "reopen": {
      await runs.reopen(call.run, call.lost);
      break;
    }
    case "report": {
      outcome = await runs.report(call.report);
      break;
    }
    case "leave": {
      await runs.leave(call.worker);
      break;
    }
    case "list": {
      outcome = await runs.list();
      break;
    }
    case "statusesOf": {
      outcome = await runs.statusesOf(call.keys);
      break;
    }
    case "find": {
      outcome = await runs.find(call.id, call.run);
      break;
    }
    case "changeAnswer": {
      await store.changeAnswer(call.key);
      break;
    }
    case "changeState": {
      await store.changeState(call.run, call.idx);
      break;
    }
    case "forgetRun": {
      await store.forgetRun(call.run);
      break;
    }
    case "passTime":
    case "stepClock": {
      await store[call.what](call.ms);
      break;
    }
  }
  return outcome;
}

/** Takes a chunk; its id is told by the first lease that had it. */
async function fetched(of: number, runs: RunStore, leases: LeasedChunk[]): Promise<unknown> {
  if ((await runs.list()).every(({ run }) => run !== of)) return "no run";
  const leased = await runs.fetchChunk(of);
  if (leased === null) return null;
  const known = leases.findIndex(({ lease }) => lease.id === leased.lease.id);
  leases.push(leased);
  return { known, chunk: leased.chunk, retryCount: leased.lease.retryCount };
}

async function* dying(records: readonly RunRecord[]) {
  yield* records.slice(0, 2);
  throw new Error("The file ends here.");
}

/** Returns everything that a reader sees in a store. */
export async function exportOf({ sessions: [runs] }: PlayedStore): Promise<unknown> {
  if (runs === undefined) return null;
  const all: unknown[] = [await runs.list(), await runs.statusesOf(allKeys)];
  for (const { run } of await runs.list()) {
    const rows: unknown[] = [];
    for await (const row of runs.rows(run)) rows.push(row);
    all.push(rows, await runs.refused(run));
  }
  return all;
}
