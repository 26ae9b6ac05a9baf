import type { LeasedChunk, RunRecord } from "evaluator-runs/postgres";
import type { RunStore } from "evaluator-runs/store-parts";
import { allKeys, inputAt, type StoreCall } from "./random-calls.ts";

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
    if (call.what === "answerAll") return await answerAll(lease, runs, call.isFirstFailed);
    return "usd" in call ? await runs[call.what](lease, call.usd) : await runs[call.what](lease);
  }
  let outcome: unknown = null;
  switch (call.what) {
    case "join": {
      const { made, records } = inputAt(call.input);
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

/** Reserves, answers all records of a chunk, or all but the first one, and finishes it. */
async function answerAll(leased: LeasedChunk, runs: RunStore, isFirstFailed: boolean) {
  const { run } = leased;
  const writer = runs.writer({ run, signal: new AbortController().signal });
  const { missing } = await runs.readChunk(leased);
  const granted = await runs.reserve(leased, missing.length / 4);
  const ends = missing.map(({ idx, key, state }, at) =>
    at === 0 && isFirstFailed
      ? { idx, error: `It fails: ${idx}.`, isRetryable: true, isFinal: false }
      : { idx, key, state, evaluation: `{"of":${idx}}`, inputTokens: 300, costUsd: 0.25 },
  );
  const held = await Promise.all(ends.map((end) => writer.keep(end, leased.lease)));
  return { granted, held, isWhole: await runs.finish(leased, missing.length / 4) };
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
