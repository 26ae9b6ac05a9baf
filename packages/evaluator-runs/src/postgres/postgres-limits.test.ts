import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { LeaseRequest, LimitStore } from "evaluator-client";
import { migrateDatabase } from "./migrate.ts";
import { toLimitStore } from "./postgres-limits.ts";
import { openPglite, type PgliteDatabase } from "../testing/pglite-database.ts";

// The limits are of minutes, so that the time a busy machine takes between two statements is small
// beside what is compared; rows are set back instead of waiting.
let database: PgliteDatabase;
let store: LimitStore;

beforeAll(async () => {
  database = await openPglite();
  await migrateDatabase(database);
  store = await toLimitStore(database);
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.query("delete from evaluator.limiter; delete from evaluator.limiter_member");
});

const limits = { requestsPerMinute: 0.5 };
const ask: LeaseRequest = { key: "team-a", member: "one", requests: 1, tokens: 0, limits };
const aMinute = 60_000;

/** A wait that was reserved, less the time that has passed since. */
function expectWait(waitMs: number, ms: number): void {
  expect(waitMs).toBeLessThanOrEqual(ms + 2000);
  expect(waitMs).toBeGreaterThan(ms - aMinute);
}

test("reserves instants one after another, whoever asks", async () => {
  await store.lease(ask);
  const second = await store.lease({ ...ask, member: "two" });
  const third = await store.lease({ ...ask, requests: 3 });
  const fourth = await store.lease({ ...ask, member: "two" });
  expectWait(second.waitMs, 2 * aMinute);
  expectWait(third.waitMs, 4 * aMinute);
  expectWait(fourth.waitMs, 10 * aMinute);
  expect([second.gapMs, second.pausedMs]).toEqual([2 * aMinute, 0]);
});

test("keeps each key to itself, and writes down none of them", async () => {
  await store.lease({ ...ask, key: "sk-secret" });
  expectWait((await store.lease({ ...ask, key: "other" })).waitMs, 0);
  const dump = await database.query<{ key: string }>("select key from evaluator.limiter");
  expect(dump).toHaveLength(2);
  expect(JSON.stringify(dump)).not.toContain("secret");
});

test("counts tokens too, up to a second ahead", async () => {
  const tokens = { ...ask, tokens: 5, limits: { tokensPerSecond: 1 / 60 } };
  const first = await store.lease(tokens);
  expect(first.gapMs).toBe(0);
  expectWait((await store.lease(tokens)).waitMs, 5 * aMinute - 1000);
  const given = await store.lease({ ...tokens, tokens: -5 });
  expectWait(given.waitMs, 10 * aMinute - 1000);
  expectWait((await store.lease(tokens)).waitMs, 10 * aMinute - 1000);
});

test("counts the members that asked in the last ten seconds", async () => {
  await store.lease(ask);
  await store.lease({ ...ask, key: "other", member: "three" });
  await database.query(
    "update evaluator.limiter_member set seen_at = clock_timestamp() - interval '11 s' where member = 'one'",
  );
  expect((await store.lease({ ...ask, member: "two" })).members).toBe(1);
});

test("pauses all, for the longest that was asked for", async () => {
  await store.pause("team-a", 8 * aMinute);
  await store.pause("team-a", 1);
  const { waitMs, pausedMs } = await store.lease(ask);
  expectWait(pausedMs, 8 * aMinute);
  expect(waitMs).toBe(pausedMs);
});

test("tells a pause to those who listen for its key, until they end that", async () => {
  const pauses: string[] = [];
  const stop = store.onPause("team-a", (ms) => pauses.push(`a ${ms}`));
  store.onPause("other", (ms) => pauses.push(`other ${ms}`));
  await store.pause("team-a", 1500);
  await expect.poll(() => pauses).toEqual(["a 1500"]);
  stop();
  await store.pause("team-a", 1600);
  await store.pause("other", 1700);
  await expect.poll(() => pauses).toEqual(["a 1500", "other 1700"]);
});

test("lowers the rate to 0.8 times once for many throttled answers, and climbs back", async () => {
  for (const ms of [1, 1, 1]) await store.pause("team-a", ms);
  const shares =
    "select share, extract(epoch from share_at - fell_at)::float8 as apart from evaluator.limiter";
  expect(await database.query(shares)).toEqual([{ share: 0.8, apart: 0 }]);
  await database.query("update evaluator.limiter set share_at = share_at - interval '10 s'");
  const { gapMs } = await store.lease(ask);
  expect(gapMs).toBeLessThanOrEqual((2 * aMinute) / 0.9);
  expect(gapMs).toBeGreaterThanOrEqual(2 * aMinute);
  await database.query("update evaluator.limiter set share_at = share_at - interval '1 hour'");
  expect((await store.lease(ask)).gapMs).toBe(2 * aMinute);
});

test("survives a server clock that goes forward and back by an hour", async () => {
  await store.pause("team-a", 8 * aMinute);
  await store.lease(ask);
  await moveTimes("- interval '1 hour'");
  const ahead = await store.lease({ ...ask, member: "three" });
  expectWait(ahead.waitMs, 0);
  expect([ahead.pausedMs, ahead.members]).toEqual([0, 1]);
  await store.pause("team-a", 8 * aMinute);
  await moveTimes("+ interval '1 hour'");
  const { waitMs, pausedMs, members } = await store.lease({ ...ask, member: "two" });
  expectWait(waitMs, 8 * aMinute);
  expectWait(pausedMs, 8 * aMinute);
  expect(members).toBe(1);
});

/** Writes all instants as a clock that was so much ahead, or behind, would have. */
async function moveTimes(by: string): Promise<void> {
  const columns = ["request_at", "token_at", "share_at", "fell_at", "paused_until", "written_at"];
  const moved = (column: string) => `${column} = ${column} ${by}`;
  await database.query(
    `update evaluator.limiter set ${columns.map(moved).join()}; update evaluator.limiter_member set ${moved("seen_at")}`,
  );
}

test("keeps closed for the first second after the server started", async () => {
  const [row] = await database.query<{ ms: number }>(
    "select extract(epoch from pg_postmaster_start_time() + interval '1 s' - clock_timestamp())::float8 * 1000 as ms",
  );
  const [body] = await database.query<{ text: string }>(
    "select pg_get_functiondef('evaluator.limiter_lease'::regproc) as text",
  );
  // The server started long ago by now: the second becomes as long as it takes, and ten minutes.
  const closed = Math.round(10 * aMinute - (row?.ms ?? 0) + 1000);
  const start = "pg_postmaster_start_time() + interval '1 s'";
  expect(body?.text).toContain(start);
  await database.query(
    body?.text.replace(start, `pg_postmaster_start_time() + interval '${closed} ms'`) ?? "",
  );
  try {
    expectWait((await store.lease(ask)).waitMs, 10 * aMinute);
  } finally {
    await database.query(body?.text ?? "");
  }
});

test("rejects a lease without its numbers", async () => {
  const broken = { ...database, query: async () => [{ wait_ms: null, gap_ms: 0, members: 1 }] };
  const lease = (await toLimitStore(broken as unknown as PgliteDatabase)).lease(ask);
  await expect(lease).rejects.toMatchObject({ name: "DatabaseError", failure: "other" });
});

describe("what PostgreSQL rejects", () => {
  const reject = (code: string) =>
    database.query(`
      create function reject() returns trigger language plpgsql as
        $$ begin raise exception 'no: sk-secret' using errcode = '${code}'; end $$;
      create trigger reject before insert on evaluator.limiter
        for each row execute function reject()`);

  test.each([
    ["53100", "full", "Make room"],
    ["42501", "denied", "grants"],
    ["53300", "busy", "max_connections"],
    ["57P03", "unreachable", "Check that it runs"],
    ["XX000", "other", "schema evaluator"],
  ])("is a failure of its own: %s is %s", async (code, failure, next) => {
    await reject(code);
    try {
      const error = await store.lease(ask).catch((error: unknown) => error);
      expect(error).toMatchObject({ failure, code, message: expect.stringContaining(next) });
      expect(String((error as Error).stack)).not.toContain("secret");
    } finally {
      await database.query("drop function reject cascade");
    }
  });

  test("is a failure of its own: a database that may only be read", async () => {
    await store.lease(ask);
    await database.query("set default_transaction_read_only = on");
    try {
      const lease = store.lease(ask);
      await expect(lease).rejects.toMatchObject({ failure: "read-only", code: "25006" });
    } finally {
      await database.query("set default_transaction_read_only = off");
    }
  });
});

describe("the schema", () => {
  test("is made once, and left alone when it is up to date", async () => {
    await store.lease(ask);
    await database.query("set default_transaction_read_only = on");
    await migrateDatabase(database).finally(() =>
      database.query("set default_transaction_read_only = off"),
    );
    expect(await database.query("select key from evaluator.limiter")).toHaveLength(1);
  });

  test("of a newer version is rejected with both versions", async () => {
    await database.query("update evaluator.schema_version set version = 99");
    const newer = await migrateDatabase(database).catch((error: unknown) => error);
    await database.query("update evaluator.schema_version set version = 1");
    expect(newer).toMatchObject({ failure: "newer-schema" });
    expect(String(newer)).toMatch(/version 99, .* none after 4\. Upgrade/);
  });

  test("is not left half made", async () => {
    await database.query("drop schema evaluator cascade; create schema evaluator");
    // In the way of the first migration's last table.
    await database.query("create table evaluator.limiter_member (of_someone_else integer)");
    await expect(migrateDatabase(database)).rejects.toMatchObject({ code: "42P07" });
    const made = "select to_regclass('evaluator.limiter') as limiter";
    expect(await database.query(made)).toEqual([{ limiter: null }]);
    await database.query("drop table evaluator.limiter_member");
    await migrateDatabase(database);
    expectWait((await store.lease(ask)).waitMs, 0);
  });
});
