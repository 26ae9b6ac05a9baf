import type { NewRun, RunRecord } from "evaluator-runs/postgres";
import { expect, test } from "vitest";
import { type Fate, losing, startMemoryStore } from "../testing/memory-store.ts";
import type { Carry, StoreStatement } from "./memory-session.ts";

const { signal } = new AbortController();

function recordsTo(count: number): RunRecord[] {
  const toRecord = (_: unknown, at: number) => ({
    id: `m-${at}`,
    key: `key-${at}`,
    state: `${at}`,
  });
  return Array.from({ length: count }, toRecord);
}

function runOver(records: readonly RunRecord[], fields: Partial<NewRun> = {}): NewRun {
  const setup = { hash: "setup", wire: "gateway", modelId: "m", questions: "{}" };
  const names = { digest: "run", name: "inbox.json", facts: "{}" };
  return { ...names, setup, records: records.length, maxCostUsd: null, ...fields };
}

function answerTo({ key, state }: Pick<RunRecord, "key" | "state">, evaluation = "{}") {
  return {
    idx: Number(key.slice("key-".length)),
    key,
    state,
    evaluation,
    inputTokens: 300,
    costUsd: 0.25,
  };
}

const failure = { error: "It is down.", isRetryable: true, isFinal: false };

/** Starts a store with a run that is loaded. */
async function startRun(count: number) {
  const store = startMemoryStore();
  const records = recordsTo(count);
  await store.runs.join(runOver(records), () => ReadableStream.from(records), signal);
  return { ...store, records };
}

/** Returns a connection with a fault of the first statements of a kind, and what was sent over it. */
function losingFirst(statement: StoreStatement, fates: readonly Fate[]) {
  const left = [...fates];
  const sent: StoreStatement[] = [];
  const carry = losing((one) => {
    sent.push(one);
    return one === statement ? (left.shift() ?? "done") : "done";
  });
  return { carry, sent };
}

test.each<[Fate, number]>([
  ["lost-before", 0],
  ["lost-after", 1],
])(
  "a writer keeps an answer again whose statement was %s, and it is there once",
  async (fate, kept) => {
    const { runs, open, records, database, time } = await startRun(1);
    const { carry, sent } = losingFirst("keep-ends", [fate]);
    const troubles: (string | null)[] = [];
    const onTrouble = (trouble: Error | null) => {
      troubles.push(trouble && `${database.tables.answers.size} at ${time.nowMs}`);
    };
    const session = open({ carry });
    for (const record of records) {
      await session.writer({ run: 1, signal, onTrouble }).keep(answerTo(record));
    }
    expect(sent).toEqual(["keep-sample", "keep-ends", "keep-ends"]);
    expect(troubles).toEqual([`${kept} at 5`, null]);
    expect(await runs.statusesOf(["key-0"])).toEqual(["answered"]);
  },
);

test("a chunk is counted once, though the reply to its count is lost", async () => {
  const { runs, open, records } = await startRun(2);
  const session = open({ carry: losingFirst("finish-chunk", ["lost-after"]).carry });
  const chunk = await session.fetchChunk(1);
  if (chunk === null) throw new Error("There is no chunk.");
  await session.readChunk(chunk);
  const writer = session.writer({ run: 1, signal });
  await Promise.all(records.map((record) => writer.keep(answerTo(record))));
  await expect(session.finish(chunk, 0)).rejects.toMatchObject({ failure: "unreachable" });
  expect(await runs.get(1)).toMatchObject({ state: "done", answered: 2, costUsd: 0.5 });
  expect(await runs.touch(chunk)).toBe(true);
  expect(await session.finish(chunk, 0)).toBe(true);
  expect(await runs.touch(chunk)).toBe(false);
  expect(await runs.get(1)).toMatchObject({ state: "done", answered: 2, costUsd: 0.5 });
});

test("answers to one call from two sessions meet: the first is kept", async () => {
  const { open, records, runs, time } = await startRun(3);
  const carry: Carry = async (call) => {
    await time.wait(1);
    return await call();
  };
  const keep = async (name: string) => {
    const writer = open({ carry }).writer({ run: 1, signal });
    await Promise.all(records.map((record) => writer.keep(answerTo(record, name))));
  };
  await Promise.all([keep('"one"'), keep('"other"')]);
  const evaluations: unknown[] = [];
  for await (const { evaluation } of runs.rows(1)) evaluations.push(evaluation);
  expect(evaluations).toEqual(['"one"', '"one"', '"one"']);
});

test.each(["restart", "kill"])(
  "a load is rolled back by a %s, and the next session loads the run",
  async (end) => {
    const { open, database, runs } = startMemoryStore();
    const records = recordsTo(700);
    const loading = open();
    const dying = async function* dying() {
      yield* records.slice(0, 600);
      if (end === "restart") database.restart();
      else loading.disconnect();
      yield* records.slice(600);
    };
    const joining = loading.join(runOver(records), dying, signal);
    await expect(joining).rejects.toMatchObject({ failure: "unreachable" });
    expect(await runs.get(1)).toMatchObject({ state: "loading" });
    expect(await runs.fetchChunk(1)).toBeNull();
    const again = await runs.join(runOver(records), () => ReadableStream.from(records), signal);
    expect(again).toMatchObject({ run: 1, isJoined: false, state: "open" });
  },
);

test("a restart ends a load whose process hangs", async () => {
  const { open, database, runs, time } = startMemoryStore();
  const records = recordsTo(1);
  const hanging = new ReadableStream<RunRecord>();
  open()
    .join(runOver(records), () => hanging, signal)
    .catch(() => {});
  await time.wait(10);
  database.restart();
  const again = await runs.join(runOver(records), () => ReadableStream.from(records), signal);
  expect(again).toMatchObject({ isJoined: false, state: "open" });
});

test("a process that joins holds the run no longer than its transaction, though it gets no reply", async () => {
  const { open, runs, records, time } = await startRun(1);
  const carry: Carry = async (call, statement) => {
    const result = await call();
    return statement === "begin-load" ? await new Promise(() => {}) : result;
  };
  open({ carry })
    .join(runOver(records), () => ReadableStream.from(records), signal)
    .catch(() => {});
  await time.wait(10);
  await runs.join(runOver(records), () => ReadableStream.from(records), signal);
  expect(time.nowMs).toBe(10);
});

test("the commit of a process that died does not reach the load of the next one", async () => {
  const { open, runs, time } = startMemoryStore();
  const records = recordsTo(1);
  const slow: Carry = async (call, statement) => {
    if (statement === "commit-load") await time.wait(100);
    return await call();
  };
  const dying = open({ carry: slow });
  const joining = dying.join(runOver(records), () => ReadableStream.from(records), signal);
  await time.wait(10);
  dying.disconnect();
  await runs.join(runOver(records), () => ReadableStream.from(records), signal);
  const chunk = await runs.fetchChunk(1);
  await expect(joining).rejects.toMatchObject({ failure: "unreachable" });
  expect(chunk && (await runs.touch(chunk))).toBe(true);
});

test("a restart loses what has not reached the store, and the replies of the rest", async () => {
  const { open, database, time } = await startRun(2);
  const slow: Carry = async (call) => {
    await time.wait(10);
    const result = await call();
    await time.wait(10);
    return result;
  };
  const session = open({ carry: slow });
  const lost = session.stop(1, "It is lost.").catch((error: unknown) => error);
  await time.wait(5);
  database.restart();
  expect(await lost).toMatchObject({ failure: "unreachable" });
  expect(database.tables.runs.get(1)?.state).toBe("open");
  const done = session.stop(1, "It is done.").catch((error: unknown) => error);
  await time.wait(15);
  database.restart();
  expect(await done).toMatchObject({ failure: "unreachable" });
  expect(database.tables.runs.get(1)).toMatchObject({ state: "stopped", stoppedBy: "It is done." });
});

test("a run that is loaded is held: who joins polls, who fails or removes it waits", async () => {
  const { open, database, runs, time } = startMemoryStore();
  const records = recordsTo(2);
  const slow = async function* slow() {
    yield* records.slice(0, 1);
    await time.wait(2500);
    yield* records.slice(1);
  };
  const ends: string[] = [];
  const end = (what: string) => () => void ends.push(`${what} at ${time.nowMs}`);
  const loading = open().join(runOver(records), slow, signal).then(end("loaded"));
  await time.wait(10);
  await Promise.all([
    loading,
    runs.join(runOver(records), () => ReadableStream.from(records), signal).then(end("joined")),
    runs
      .writer({ run: 1, signal })
      .keep({ ...failure, idx: 0 })
      .then(end("failed")),
    runs.stop(1, "It is early.").then(end("stopped")),
  ]);
  expect(ends).toEqual(["stopped at 10", "loaded at 2500", "failed at 2500", "joined at 3010"]);
  expect(await runs.get(1)).toMatchObject({ state: "open", stoppedBy: null });
  // Who joined later asks again about the failed record.
  expect(await runs.find("m-0")).toMatchObject({ error: null });
  await database.forgetRun(1);
  expect(await runs.list()).toEqual([]);
});

test("rows of a connection that was cut end with its error", async () => {
  const { runs, database } = await startRun(600);
  const seen: number[] = [];
  const reading = async () => {
    for await (const { idx } of runs.rows(1)) {
      if (idx === 0) database.restart();
      seen.push(idx);
    }
  };
  await expect(reading()).rejects.toMatchObject({ failure: "unreachable" });
  expect(seen).toHaveLength(500);
  expect(await runs.list()).toHaveLength(1);
});

test("a statement without a reply fails after a minute, and a closed session has none", async () => {
  const { open, time } = startMemoryStore();
  const session = open({ carry: () => new Promise(() => {}) });
  await expect(session.list()).rejects.toMatchObject({ failure: "unreachable", isRetryable: true });
  expect(time.nowMs).toBe(60_000);
  await session[Symbol.asyncDispose]();
  await expect(session.list()).rejects.toMatchObject({ failure: "unreachable" });
});

test("a lease ends after a step of the store's clock forwards, also by more than a year", async () => {
  const { runs, database, open, time } = await startRun(1);
  open({ supervises: true });
  const chunk = await runs.fetchChunk(1);
  database.stepClock(400 * 86_400_000);
  await time.wait(2000);
  expect(await runs.fetchChunk(1)).toMatchObject({ chunk: 0, lease: { id: chunk?.lease.id } });
});

test("a store in memory runs no SQL", async () => {
  const { runs } = startMemoryStore();
  await expect(runs.query()).rejects.toMatchObject({ failure: "query" });
});
