import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import { type Connection, migrate, type PostgresRuns, postgresRuns } from "evaluator-runs/postgres";
import { Client } from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { answerTo, countedTo, newRun, type SampleRecord } from "../src/testing/sample-runs.ts";
import { makeDatabase, runSql } from "../src/testing/make-database.ts";

const url = inject("postgresUrl");
const { signal } = new AbortController();

async function open(connection: Connection): Promise<PostgresRuns> {
  const runs = await postgresRuns(connection, { supervises: true });
  onTestFinished(() => runs[Symbol.asyncDispose]());
  return runs;
}

/** Loads a run of some records, answers one chunk of it, and reads it back. */
async function workWith(runs: PostgresRuns, count: number): Promise<number> {
  const records = countedTo(count);
  const { run } = await runs.join(newRun(records), () => ReadableStream.from(records), signal);
  const chunk = await runs.fetchChunk(run);
  if (chunk === null) throw new Error("There is no chunk.");
  const { missing } = await runs.readChunk(chunk);
  await runs.reserve(chunk, 1);
  const writer = runs.writer({ run, signal });
  await Promise.all(missing.map(({ idx }) => writer.keep(answerTo(records[idx] as SampleRecord))));
  expect(await runs.touch(chunk)).toBe(true);
  expect(await runs.finish(chunk, 0)).toBe(true);
  let answered = 0;
  for await (const { evaluation } of runs.rows(run)) answered += Number(evaluation !== null);
  return answered;
}

describe.skipIf(url === null)("runs on a real server", () => {
  test("two people put the same records away at once, in whatever order", async () => {
    const database = await makeDatabase(url ?? "");
    const [one, other] = [await open(database), await open(database)];
    const ids = ["a", "b", "c"];
    await one.putAway("inbox.json", ids, "");
    const [first, watcher] = [new Client(database), new Client(database)];
    await Promise.all([first.connect(), watcher.connect()]);
    onTestFinished(async () => void (await Promise.all([first.end(), watcher.end()])));
    // Both wait, so that each holds the rows before this one when it ends.
    await first.query(`begin; update evaluator.choices set until = '' where id = '"b"'`);
    const puts = [
      one.putAway("inbox.json", ids, "9999-12-31"),
      other.putAway("inbox.json", ids.toReversed(), "9999-12-31"),
    ];
    const waiting =
      "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    await expect.poll(async () => (await watcher.query(waiting)).rowCount).toBe(2);
    await first.query("commit");
    await Promise.all(puts);
    expect(await one.away("inbox.json")).toEqual(new Map(ids.map((id) => [id, "9999-12-31"])));
  });

  test("one role owns the schemas, one only works with them", async () => {
    const database = await makeDatabase(url ?? "");
    const name = new URL(database).pathname.slice(1);
    const roles = ["owner", "worker"].map((role) => `${role}_${randomUUID().replaceAll("-", "")}`);
    const [owner = "", worker = ""] = roles;
    await runSql(database, ...roles.map((role) => `create role ${role} login password 'passw0rd'`));
    onTestFinished(async () => {
      await runSql(
        database,
        ...roles.flatMap((role) => [`drop owned by ${role}`, `drop role ${role}`]),
      );
    });
    const as = (role: string): string => {
      const own = new URL(database);
      [own.username, own.password] = [role, "passw0rd"];
      return own.href;
    };
    await expect(open(as(worker))).rejects.toMatchObject({ failure: "denied" });
    await runSql(database, `grant create on database ${name} to ${owner}`);
    await migrate(as(owner));
    await runSql(
      as(owner),
      `grant usage on schema evaluator, evaluator_jobs to ${worker}`,
      `grant select, insert, update, delete on all tables in schema evaluator, evaluator_jobs to ${worker}`,
    );
    const runs = await open(as(worker));
    expect(await workWith(runs, 150)).toBe(100);
    await expect(runSql(as(worker), "drop table evaluator.answers")).rejects.toMatchObject({
      code: "42501",
    });
  });

  test("eight that open an empty database at once make everything once", async () => {
    const database = await makeDatabase(url ?? "");
    const all = await Promise.all(Array.from({ length: 8 }, () => open(database)));
    expect(await Promise.all(all.map((runs) => runs.list()))).toEqual(all.map(() => []));
  });

  test("a run that is removed while it loads leaves nothing that the next one meets", async () => {
    const database = await makeDatabase(url ?? "");
    const runs = await open(database);
    const made = countedTo(300);
    let removed: Promise<unknown> = Promise.resolve();
    const records = async function* records() {
      yield* made.slice(0, 150);
      removed = runSql(database, "select evaluator.forget_run(1)");
      // Until the other session waits for this one.
      const client = new Client(database);
      await client.connect();
      const waiting = "select from pg_locks where not granted";
      await expect.poll(async () => (await client.query(waiting)).rowCount).toBe(1);
      await client.end();
      yield* made.slice(150);
    };
    await runs.join(newRun(made), records, signal).catch(() => {});
    await removed;
    const again = await runs.join(newRun(made), () => ReadableStream.from(made), signal);
    expect(again).toMatchObject({ run: 1, isJoined: false, state: "open" });
  });

  test("tells what is wrong with a database, and shows its URL nowhere", async () => {
    const database = await makeDatabase(url ?? "");
    const name = new URL(database).pathname.slice(1);
    await runSql(database, `alter database ${name} set default_transaction_read_only = on`);
    await expect(open(database)).rejects.toMatchObject({ failure: "read-only" });
    const other = await makeDatabase(url ?? "");
    const runs = await open(other);
    expect(inspect(runs, { depth: 20, showHidden: true })).not.toContain("postgres:");
    await runSql(other, "update evaluator_jobs.version set version = 999");
    await expect(open(other)).rejects.toMatchObject({ failure: "newer-schema" });
    await runSql(other, "update evaluator.schema_version set version = 99");
    const error = await open(other).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ failure: "newer-schema" });
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("postgres:");
  });
});
