import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { RunQuery } from "../store/run-query.ts";
import { openPgliteRuns, type PgliteRuns } from "../testing/pglite-runs.ts";
import { countedTo } from "../testing/sample-runs.ts";

let opened: PgliteRuns;

beforeAll(async () => {
  opened = await openPgliteRuns();
  await opened.load(countedTo(2500));
});
afterAll(() => opened[Symbol.asyncDispose]());

const columns = [{ name: "id", type: "text" }] as const;

async function ask(text: string, given: Partial<RunQuery> = {}) {
  const query: RunQuery = {
    text,
    run: 1,
    tables: [{ name: "mails", columns }],
    cellsOf: ({ id }) => [[id]],
    given: [{ name: "runs", columns, rows: [["one\0"]] }],
    signal: new AbortController().signal,
    allowSuperuser: true,
    ...given,
  };
  return await opened.runs.query(query, async ({ names, rows, ownsJournal }) => {
    const held: unknown[] = [];
    for await (const row of rows) held.push(row);
    return { names, rows: held, ownsJournal };
  });
}

/** What a query could leave in the catalogs and in the session. */
async function traces() {
  const [row] = await opened.database.query<object>(`
    select (select count(*) from pg_largeobject_metadata) as objects,
      (select count(*) from pg_class) as relations,
      (select count(*) from pg_locks where locktype = 'advisory') as locks,
      current_setting('application_name') as application,
      (select last_value from counter) as counted`);
  return row;
}

test("all rows come, under the names they have", async () => {
  const read = await ask("select mails.id, runs.id, count(*) over () from mails, runs order by 1");
  expect(read.names).toEqual(["id", "id", "count"]);
  expect(read.rows).toHaveLength(2500);
  expect(read.rows[0]).toEqual(["m-0", "one", 2500]);
  expect(await ask("select from mails where false")).toMatchObject({ names: [], rows: [] });
  const limit = await ask("select current_setting('statement_timeout')", { timeoutMs: 5000 });
  expect(limit.rows).toEqual([["5s"]]); // which ends it on the server if this process is killed
  expect((await ask("values (1, null, row(1, 2))")).rows).toEqual([[1, null, "(1,2)"]]);
});

test("nothing of a query is left after it, whether it succeeds or fails", async () => {
  const { pglite } = opened.database;
  await pglite.exec("create sequence counter");
  onTestFinished(async () => void (await pglite.exec("drop sequence counter")));
  const heard: string[] = [];
  await opened.database.listen("news", (payload) => heard.push(payload));
  const before = await traces();
  await ask("select pg_notify('news', 'a query'), set_config('application_name', 'x', false)");
  expect(await traces()).toEqual(before);
  for (const text of [
    "select nextval('counter')",
    "select setval('counter', 7)",
    "select lo_from_bytea(0, 'x')",
    "select evaluator.forget_run(1)",
    "select 1 / (count(*) - 2500) from mails",
  ]) {
    await expect(ask(text)).rejects.toMatchObject({ failure: "query" });
    expect(await traces()).toEqual(before);
  }
  await pglite.query("select pg_notify('news', 'the end')");
  expect(heard).toEqual(["the end"]);
  expect(await opened.allRows(1)).toHaveLength(2500);
});

test("a role that can do more than a rollback undoes is refused before the query, and named", async () => {
  await expect(ask("select 1", { allowSuperuser: false })).rejects.toMatchObject({
    failure: "query-role",
    message: expect.stringMatching(/^The role postgres may .* create role triage_reader login /),
  });
  expect(await ask("select 1")).toMatchObject({ rows: [[1]], ownsJournal: true });
});

test("a value or a row that is too large is refused before it is held", async () => {
  const text = (length: number) => `repeat('x', ${length})`;
  const { rows } = await ask(`select ${text(1_000_000)}, 1, ${text(999_999)}`);
  expect(rows).toEqual([["x".repeat(1_000_000), 1, "x".repeat(999_999)]]);
  for (const columns of [text(1_000_001), `7, ${text(999_999)}, ${text(999_999)}, 'xyz'`]) {
    await expect(ask(`select ${columns} from runs`)).rejects.toMatchObject({
      failure: "query-size",
    });
  }
});
