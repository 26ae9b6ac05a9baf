import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { selfSignedCertificate } from "evaluator-kit";
import { startOwnServer } from "evaluator-kit/postgres-server";
import { temporaryFolder } from "evaluator-kit/testing";
import {
  type Connection,
  type PostgresRuns,
  postgresRuns,
  type RunQuery,
} from "evaluator-runs/postgres";
import { Client } from "pg";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { countedTo, newRun } from "../src/testing/sample-runs.ts";
import { makeDatabase, runSql } from "../src/testing/make-database.ts";

const url = inject("postgresUrl");
const columns = [{ name: "id", type: "text" }] as const;

async function connect(connection: string): Promise<Client> {
  const client = new Client({ connectionString: connection, application_name: "admin" });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Opens runs of a person who only looks. */
async function open(connection: Connection): Promise<PostgresRuns> {
  const runs = await postgresRuns(connection, { onlyReads: true });
  onTestFinished(() => runs[Symbol.asyncDispose]());
  return runs;
}

async function loadRun(connection: string): Promise<void> {
  await using runs = await postgresRuns(connection);
  const records = countedTo(2500);
  const { signal } = new AbortController();
  await runs.join(newRun(records), () => ReadableStream.from(records), signal);
}

async function ask(runs: PostgresRuns, text: string, given: Partial<RunQuery> = {}) {
  const query: RunQuery = {
    text,
    run: 1,
    tables: [{ name: "mails", columns }],
    cellsOf: ({ id }) => [[id]],
    given: [{ name: "runs", columns, rows: [["one"]] }],
    signal: new AbortController().signal,
    ...given,
  };
  return await runs.query(query, async ({ names, rows, ownsJournal }) => {
    const held: unknown[] = [];
    for await (const row of rows) held.push(row);
    return { names, rows: held, ownsJournal };
  });
}

/** Makes a role that logs in, for the length of the test, and returns its URL. */
async function makeRole(admin: Client, database: string, ...statements: string[]): Promise<string> {
  const role = `reader_${randomUUID().replaceAll("-", "")}`;
  await admin.query(`create role ${role} login password 'passw0rd'`);
  onTestFinished(
    async () => void (await runSql(database, `drop owned by ${role}; drop role ${role}`)),
  );
  for (const statement of statements) await admin.query(statement.replaceAll("ROLE", role));
  const own = new URL(database);
  [own.username, own.password] = [role, "passw0rd"];
  return own.href;
}

/** What a query could leave behind on the server. */
async function traces(admin: Client) {
  const { rows } = await admin.query<object>(`
    select (select count(*) from pg_largeobject_metadata) as objects,
      (select count(*) from pg_class) as relations,
      (select count(*) from pg_locks where locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())) as locks,
      (select count(*) from evaluator.records) as records,
      (select count(*) from pg_stat_activity
        where datname = current_database() and state = 'active' and query like 'fetch%') as active`);
  return rows;
}

describe.skipIf(url === null)("a query of a person's own on a real server", () => {
  test("needs four grants, ends in time, and leaves nothing behind", async () => {
    const database = await makeDatabase(url ?? "");
    await loadRun(database);
    const admin = await connect(database);
    const name = new URL(database).pathname.slice(1);
    await admin.query(`revoke all on database ${name} from public`);
    await admin.query("revoke all on schema public from public");
    const reader = await makeRole(
      admin,
      database,
      `grant connect on database ${name} to ROLE`,
      "grant usage on schema evaluator to ROLE",
      "grant select on all tables in schema evaluator to ROLE",
      `grant temporary on database ${name} to ROLE`,
    );
    const heard: unknown[] = [];
    admin.on("notification", ({ payload }) => heard.push(payload));
    await admin.query("listen news");
    const runs = await open(reader);
    const before = await traces(admin);

    const read = await ask(runs, "select mails.id, runs.id from mails, runs order by 1");
    expect(read).toMatchObject({ names: ["id", "id"], ownsJournal: false });
    expect([read.rows.length, read.rows[0]]).toEqual([2500, ["m-0", "one"]]);
    const { rows } = await ask(
      runs,
      `select pg_backend_pid(), pg_notify('news', 'x'), pg_advisory_lock(7),
         set_config('work_mem', '1MB', false)`,
    );
    const [[pid]] = rows as [[number]];
    await expect
      .poll(
        async () => (await admin.query(`select from pg_stat_activity where pid = ${pid}`)).rowCount,
      )
      .toBe(0);
    // Before version 16 it is rolled back, from then on refused.
    await ask(runs, "select lo_from_bytea(0, 'x')").catch(() => {});
    for (const [text, failure, message] of [
      ["select 1; commit; delete from evaluator.answers", "query", "multiple commands"],
      ["select 1 ` ; commit; `", "query", "syntax error"],
      ["delete from evaluator.answers returning 1", "query", "syntax error"],
      ["select set_config('transaction_read_only', 'off', true)", "query", "PostgreSQL takes"],
      ["select set_config('role', 'postgres', true)", "query", "may not"],
      ["select evaluator.forget_run(1)", "query", ""],
      ["select pg_read_file('/etc/passwd')", "query", "may not"],
      ["select 1 / (count(*) - 2500) from mails", "query", "A value does not fit"],
      ["select repeat('x', 30000000)", "query-size", "1 MB"],
      ["select pg_sleep(100)", "query-time", "too long"],
      // Each of its steps is short.
      [
        "with recursive t (n) as (select 1 union all select n + 1 from t) select n from t",
        "query-time",
        "too long",
      ],
    ] as const) {
      const timeoutMs = failure === "query-time" ? 1000 : 60_000;
      await expect(ask(runs, text, { timeoutMs })).rejects.toMatchObject({
        failure,
        message: expect.stringContaining(message),
      });
    }
    await expect.poll(() => traces(admin)).toEqual(before);
    await admin.query("select pg_notify('news', 'the end')");
    expect(heard).toEqual(["the end"]);
  });

  test("is refused to a role that can do more, or become one that can, and told of a worker's", async () => {
    const database = await makeDatabase(url ?? "");
    await loadRun(database);
    const admin = await connect(database);
    const grants = [
      "grant usage on schema evaluator to ROLE",
      "grant select on all tables in schema evaluator to ROLE",
    ];
    for (const more of [
      "alter role ROLE superuser",
      "grant pg_read_server_files to ROLE",
      "grant pg_write_server_files to ROLE",
      "alter role ROLE noinherit; grant pg_execute_server_program to ROLE",
      "grant postgres to ROLE; alter role ROLE noinherit",
    ]) {
      const runs = await open(await makeRole(admin, database, ...grants, more));
      await expect(ask(runs, "select 1")).rejects.toMatchObject({ failure: "query-role" });
      expect(await ask(runs, "select 1", { allowSuperuser: true })).toMatchObject({ rows: [[1]] });
    }
    const worker = "grant insert on all tables in schema evaluator to ROLE";
    const runs = await open(await makeRole(admin, database, ...grants, worker));
    expect(await ask(runs, "select 1")).toMatchObject({ ownsJournal: true });
  });

  test("is ended on the server by its signal, over TCP, TLS and a socket", async () => {
    const tls = selfSignedCertificate();
    const server = await startOwnServer({ tls });
    if (server === null) return;
    onTestFinished(() => server.stop());
    await loadRun(server.url);
    const admin = await connect(server.url);
    const ca = join(await temporaryFolder(), "ca.pem");
    await writeFile(ca, tls.cert);
    const { rows } = await admin.query<{ folder: string }>(
      "select current_setting('unix_socket_directories') as folder",
    );
    const socket = { host: rows[0]?.folder ?? "", port: Number(new URL(server.url).port) };
    const before = await traces(admin);
    for (const connection of [
      server.url,
      `${server.url}?sslmode=verify-full&sslrootcert=${ca}`,
      { ...socket, user: "postgres", database: "postgres" },
    ] satisfies Connection[]) {
      const runs = await open(connection);
      const controller = new AbortController();
      const given = { signal: controller.signal, allowSuperuser: true };
      const asked = ask(runs, "select count(*) from generate_series(1, 1000000000000)", given);
      await expect.poll(() => traces(admin)).not.toEqual(before);
      await expect.poll(() => traces(admin)).toMatchObject([{ active: "1" }]);
      const reason = new Error("Interrupted.");
      controller.abort(reason);
      await expect(asked).rejects.toBe(reason);
      await expect.poll(() => traces(admin)).toEqual(before);
      await expect(ask(runs, "select 1", given)).rejects.toBe(reason);
    }
  });
});
