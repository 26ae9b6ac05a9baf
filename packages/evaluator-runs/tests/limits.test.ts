import { execFile } from "node:child_process";
import { inspect, promisify } from "node:util";
import { randomUUID } from "node:crypto";
import type { LimitStore } from "evaluator-client";
import { leaseFrom, pauseAll } from "evaluator-client/leases";
import { migrate, postgresLimits } from "evaluator-runs/postgres";
import { Client, Pool, type PoolConfig } from "pg";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";

const url = inject("postgresUrl");
// Long, so that a busy machine is not taken for a broken one.
const patience = { connectionTimeoutMillis: 60_000, query_timeout: 60_000 };
const limits = { requestsPerMinute: 0.5 };
const ask = { member: "one", requests: 1, tokens: 0, limits };
const lease = (store: LimitStore, key = "team-a", member = "one") =>
  leaseFrom(store, key, { ...ask, member });

describe.skipIf(url === null)("a limit on a real server", () => {
  const admin = new Pool({ connectionString: url ?? "", max: 2 });
  admin.on("error", () => {});
  const databases: string[] = [];
  const roles: string[] = [];
  afterAll(async () => {
    for (const name of databases) await admin.query(`drop database ${name} with (force)`);
    for (const name of roles) await admin.query(`drop role ${name}`);
    await admin.end();
  });

  /** Makes an empty database and returns how to connect to it. */
  async function makeDatabase(): Promise<{ name: string; at: (user?: string) => PoolConfig }> {
    const name = `evaluator_test_${randomUUID().replaceAll("-", "")}`;
    databases.push(name);
    await admin.query(`create database ${name}`);
    const at = (user?: string): PoolConfig => {
      const own = new URL(url ?? "");
      own.pathname = `/${name}`;
      if (user !== undefined) [own.username, own.password] = [user, "passw0rd"];
      return { connectionString: own.href, ...patience };
    };
    return { name, at };
  }

  async function open(connection: PoolConfig) {
    const store = await postgresLimits(connection);
    onTestFinished(() => store[Symbol.asyncDispose]());
    return { store };
  }

  let shared: Awaited<ReturnType<typeof makeDatabase>>;
  beforeAll(async () => {
    shared = await makeDatabase();
  });

  test("eight that start at once make the schema once", async () => {
    const { at } = await makeDatabase();
    const stores = await Promise.all(Array.from({ length: 8 }, () => open(at())));
    expect(stores).toHaveLength(8);
  });

  test("gives each of 8 stores instants of its own, however they race", async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => open(shared.at())));
    const before = performance.now();
    const leases = await Promise.all(
      stores.flatMap(({ store }, index) =>
        Array.from({ length: 10 }, () => lease(store, "race", String(index))),
      ),
    );
    const tookMs = performance.now() - before;
    const waits = leases.map(({ waitMs }) => waitMs).toSorted((one, other) => one - other);
    // The nth of them, less what had passed when it was reserved.
    for (const [index, waitMs] of waits.entries()) {
      expect(waitMs).toBeLessThanOrEqual(index * 120_000);
      expect(waitMs).toBeGreaterThan(index * 120_000 - tookMs - 1);
    }
    expect(Math.max(...leases.map(({ members }) => members))).toBe(8);
  });

  test("tells a pause to every store, again after the server cut all connections", async () => {
    const [one, two] = [await open(shared.at()), await open(shared.at())];
    const pauses: number[] = [];
    two.store.onPause("team-a", (ms) => pauses.push(ms));
    await pauseAll(one.store, "team-a", 1500);
    await expect.poll(() => pauses).toEqual([1500]);
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [
      shared.name,
    ]);
    await expect
      .poll(async () => {
        await pauseAll(one.store, "team-a", 1600).catch(() => {});
        return pauses;
      })
      .toContain(1600);
  });

  test("one role owns the schema, one only works with it", async () => {
    const { name, at } = await makeDatabase();
    const [owner = "", worker = ""] = ["owner", "worker"].map((role) => `${name}_${role}`);
    for (const role of [owner, worker]) {
      await admin.query(`create role ${role} login password 'passw0rd'`);
      roles.push(role);
    }
    const denied = await postgresLimits(at(worker)).catch((error: unknown) => error);
    expect(denied).toMatchObject({ failure: "denied", code: "42501" });
    await admin.query(`grant create on database ${name} to ${owner}`);
    await migrate(at(owner));
    const client = new Client(at(owner));
    await client.connect();
    await client.query(`grant usage on schema evaluator to ${worker}`);
    await client.query(
      `grant select, insert, update, delete on all tables in schema evaluator to ${worker}`,
    );
    await client.end();
    const { store } = await open(at(worker));
    expect((await lease(store)).members).toBe(1);
    await pauseAll(store, "team-a", 1000);
  });

  test("tells a database that may only be read from one that is missing", async () => {
    const { name, at } = await makeDatabase();
    await admin.query(`alter database ${name} set default_transaction_read_only = on`);
    await expect(postgresLimits(at())).rejects.toMatchObject({ failure: "read-only" });
    const missing = new URL(url ?? "");
    missing.pathname = "/evaluator_none";
    const error = await postgresLimits(missing.href).catch((error: unknown) => error);
    expect(error).toMatchObject({ failure: "denied", code: "3D000" });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("evaluator_none");
  });

  test("shows its URL nowhere when it is printed", async () => {
    const { store } = await open(shared.at());
    expect(inspect(store, { depth: 20, showHidden: true })).not.toContain("postgres:");
    expect(process.title).not.toContain("postgres:");
  });

  test("lets a program end that closes it last", async () => {
    const program = `
      import { postgresLimits } from "evaluator-runs/postgres";
      const store = await postgresLimits(process.argv[1]);
      const { row, version } = await store.read("program");
      console.log(await store.swap("program", version, row));
      await store[Symbol.asyncDispose]();
    `;
    const { connectionString = "" } = shared.at();
    const words = ["--input-type=module", "--eval", program, connectionString];
    const cwd = import.meta.dirname;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, words, { cwd });
    expect([stdout, stderr]).toEqual(["true\n", ""]);
  });

  test("goes on after connections were cut", async () => {
    const { store } = await open(shared.at());
    await lease(store, "cut");
    await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [
      shared.name,
    ]);
    await expect.poll(() => lease(store, "cut").catch(() => null)).not.toBeNull();
  });
});
