import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LimitStore } from "evaluator-client";
import { leaseFrom, pauseAll } from "evaluator-client/leases";
import { migrateDatabase } from "./schema.ts";
import { postgresLimits } from "./postgres-limits.ts";
import { PostgresRuns } from "./postgres-runs.ts";
import { openPglite, type PgliteDatabase } from "../testing/pglite-database.ts";

// The limits are of minutes, so that the time a busy machine takes between two statements is small
// beside what is compared; rows are set back instead of waiting.
let database: PgliteDatabase;
let store: LimitStore;

beforeAll(async () => {
  database = await openPglite();
  store = await postgresLimits("", () => database);
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.query("delete from evaluator.limits");
});

const limits = { requestsPerMinute: 0.5 };
const ask = { key: "team-a", member: "one", requests: 1, tokens: 0, limits };
const aMinute = 60_000;
const lease = ({ key, ...asked }: typeof ask) => leaseFrom(store, key, asked);
const pause = (key: string, ms: number) => pauseAll(store, key, ms);

/** Changes the stored row as SQL on the column `state`. */
async function changeState(sql: string): Promise<void> {
  await database.query(`update evaluator.limits set state = ${sql}`);
}

/** A wait that was reserved, less the time that has passed since. */
function expectWait(waitMs: number, ms: number): void {
  expect(waitMs).toBeLessThanOrEqual(ms + 2000);
  expect(waitMs).toBeGreaterThan(ms - aMinute);
}

test("reserves instants one after another, whoever asks", async () => {
  await lease(ask);
  const second = await lease({ ...ask, member: "two" });
  const third = await lease({ ...ask, requests: 3 });
  const fourth = await lease({ ...ask, member: "two" });
  expectWait(second.waitMs, 2 * aMinute);
  expectWait(third.waitMs, 4 * aMinute);
  expectWait(fourth.waitMs, 10 * aMinute);
  expect([second.gapMs, second.pausedMs]).toEqual([2 * aMinute, 0]);
});

test("keeps each key to itself, and writes down none of them", async () => {
  await lease({ ...ask, key: "sk-secret" });
  expectWait((await lease({ ...ask, key: "other" })).waitMs, 0);
  const dump = await database.query<{ key: string }>("select key from evaluator.limits");
  expect(dump).toHaveLength(2);
  expect(JSON.stringify(dump)).not.toContain("secret");
});

test("counts tokens too, up to a second ahead", async () => {
  const tokens = { ...ask, tokens: 5, limits: { tokensPerSecond: 1 / 60 } as never };
  const first = await lease(tokens);
  expect(first.gapMs).toBe(0);
  expectWait((await lease(tokens)).waitMs, 5 * aMinute - 1000);
  const given = await lease({ ...tokens, tokens: -5 });
  expectWait(given.waitMs, 10 * aMinute - 1000);
  expectWait((await lease(tokens)).waitMs, 10 * aMinute - 1000);
});

test("counts the members that asked in the last ten seconds", async () => {
  await lease(ask);
  await lease({ ...ask, key: "other", member: "three" });
  await changeState(
    "jsonb_set(state, '{members,one}', to_jsonb((state->>'writtenAtMs')::float8 - 11000))",
  );
  expect((await lease({ ...ask, member: "two" })).members).toBe(1);
});

test("pauses all, for the longest that was asked for", async () => {
  await pause("team-a", 8 * aMinute);
  await pause("team-a", 1);
  const { waitMs, pausedMs } = await lease(ask);
  expectWait(pausedMs, 8 * aMinute);
  expect(waitMs).toBe(pausedMs);
});

test("tells a pause to those who listen for its key, until they end that", async () => {
  const pauses: string[] = [];
  const stop = store.onPause("team-a", (ms) => pauses.push(`a ${ms}`));
  store.onPause("other", (ms) => pauses.push(`other ${ms}`));
  await pause("team-a", 1500);
  await expect.poll(() => pauses).toEqual(["a 1500"]);
  stop();
  await pause("team-a", 1600);
  await pause("other", 1700);
  await expect.poll(() => pauses).toEqual(["a 1500", "other 1700"]);
});

test("lowers the rate to 0.8 times once for many throttled answers, and climbs back", async () => {
  for (const ms of [1, 1, 1]) await pause("team-a", ms);
  const [row] = await database.query<{ state: Record<string, number> }>(
    "select state from evaluator.limits",
  );
  expect(row?.state["share"]).toBe(0.8);
  const earlier = (ms: number) =>
    changeState(
      `state || jsonb_build_object('loweredAtMs', (state->>'loweredAtMs')::float8 - ${ms})`,
    );
  await earlier(10_000);
  const { gapMs } = await lease(ask);
  expect(gapMs).toBeLessThanOrEqual((2 * aMinute) / 0.9);
  expect(gapMs).toBeGreaterThanOrEqual(2 * aMinute);
  await earlier(3_600_000);
  expect((await lease(ask)).gapMs).toBe(2 * aMinute);
});

test("survives a server clock that goes forward and back by an hour", async () => {
  await pause("team-a", 8 * aMinute);
  await lease(ask);
  await moveTimes(-3_600_000);
  const ahead = await lease({ ...ask, member: "three" });
  expectWait(ahead.waitMs, 0);
  expect([ahead.pausedMs, ahead.members]).toEqual([0, 1]);
  await pause("team-a", 8 * aMinute);
  await moveTimes(3_600_000);
  const { waitMs, pausedMs, members } = await lease({ ...ask, member: "two" });
  expectWait(waitMs, 8 * aMinute);
  expectWait(pausedMs, 8 * aMinute);
  expect(members).toBe(1);
});

/** Writes all instants as a clock that was so much ahead, or behind, would have. */
async function moveTimes(ms: number): Promise<void> {
  const names = [
    "requestsFreeAtMs",
    "tokensFreeAtMs",
    "loweredAtMs",
    "pausedUntilMs",
    "writtenAtMs",
  ];
  const moved = names.map((name) => `'${name}', (state->>'${name}')::float8 + ${ms}`);
  const members = `(select jsonb_object_agg(key, value::float8 + ${ms}) from jsonb_each(state->'members'))`;
  await changeState(`state || jsonb_build_object(${moved.join()}, 'members', ${members})`);
}

test.each([
  ["keeps closed for the first second after the server started", "- interval '1 ms'", 1],
  ["is open if the server's clock was set back since it started", "+ interval '10 minutes'", 0],
])("%s", async (_name, sinceNow, closedSeconds) => {
  const justStarted = {
    ...database,
    connect: async () => {
      const connection = await database.connect();
      const started = (text: string) =>
        text.replace("pg_postmaster_start_time()", `evaluator.now() ${sinceNow}`);
      return { ...connection, query: (text: string) => connection.query(started(text)) };
    },
  } as PgliteDatabase;
  const { waitMs } = await leaseFrom(await postgresLimits("", () => justStarted), ask.key, ask);
  expect(Math.round(waitMs / 1000)).toBe(closedSeconds);
});

test("rejects a row that is no limit", async () => {
  await lease(ask);
  await changeState("state || '{\"share\": 0}'");
  await expect(lease(ask)).rejects.toThrow("share");
  await database.query("rollback");
});

test("writes nothing if another process was faster", async () => {
  await lease(ask);
  const { version, row } = await store.read(ask.key);
  await changeState("state || '{}', version = version + 1");
  expect(await store.swap(ask.key, version, row as never)).toBe(false);
});

describe("what PostgreSQL rejects", () => {
  const reject = (code: string) =>
    database.query(`
      create function reject() returns trigger language plpgsql as
        $$ begin raise exception 'no: sk-secret' using errcode = '${code}'; end $$;
      create trigger reject before insert on evaluator.limits
        for each row execute function reject()`);

  test.each([
    ["53100", "full", "Make room"],
    ["42501", "denied", "grants"],
    ["53300", "busy", "max_connections"],
    ["40P01", "busy", "or a deadlock"],
    ["57P03", "unreachable", "Check that it runs"],
    ["XX000", "other", "schema evaluator"],
  ])("is a failure of its own: %s is %s", async (code, failure, next) => {
    await reject(code);
    try {
      const error = await lease(ask).catch((error: unknown) => error);
      expect(error).toMatchObject({ failure, code, message: expect.stringContaining(next) });
      expect(String((error as Error).stack)).not.toContain("secret");
    } finally {
      await database.query("drop function reject cascade");
    }
  });

  test("is a failure of its own: a database that may only be read", async () => {
    await lease(ask);
    await database.query("set default_transaction_read_only = on");
    try {
      await expect(lease(ask)).rejects.toMatchObject({ failure: "read-only", code: "25006" });
    } finally {
      await database.query("set default_transaction_read_only = off");
    }
  });
});

describe("the schema", () => {
  test("is made once, and left alone when it is up to date", async () => {
    await lease(ask);
    await database.query("set default_transaction_read_only = on");
    await migrateDatabase(database).finally(() =>
      database.query("set default_transaction_read_only = off"),
    );
    expect(await database.query("select key from evaluator.limits")).toHaveLength(1);
  });

  test("of a newer version is rejected with both versions", async () => {
    await database.query("update evaluator.schema_version set version = 99");
    const newer = await migrateDatabase(database).catch((error: unknown) => error);
    await database.query("update evaluator.schema_version set version = 8");
    expect(newer).toMatchObject({ failure: "newer-schema" });
    expect(String(newer)).toMatch(/version 99, .* program knows 10\. Upgrade/);
  });

  test("of an older version names the next step of a user that may only read", async () => {
    await database.query(`create role reader; grant usage on schema evaluator to reader;
      grant select on all tables in schema evaluator to reader;
      update evaluator.schema_version set version = 4; set role reader`);
    const opening = PostgresRuns.open(database, { onlyReads: true });
    const refused = await opening.catch((error: unknown) => error);
    await database.query("reset role; drop owned by reader; drop role reader");
    expect(refused).toMatchObject({ failure: "denied", code: "42501" });
    expect(String(refused)).toMatch(
      /version 4, .* needs 10, .* Run .* of this version once as the schema's owner\.$/,
    );
    await PostgresRuns.open(database, { onlyReads: true });
    const version = await database.query("select version from evaluator.schema_version");
    expect(version).toEqual([{ version: 10 }]);
  });

  test("is not left half made", async () => {
    await database.query("drop schema evaluator cascade; create schema evaluator");
    // In the way of the second migration's first table.
    await database.query("create table evaluator.setups (of_someone_else integer)");
    await expect(migrateDatabase(database)).rejects.toMatchObject({ code: "42P07" });
    const made = "select to_regclass('evaluator.limits') as limits";
    expect(await database.query(made)).toEqual([{ limits: null }]);
    await database.query("drop table evaluator.setups");
    await migrateDatabase(database);
    expectWait((await lease(ask)).waitMs, 0);
  });
});
