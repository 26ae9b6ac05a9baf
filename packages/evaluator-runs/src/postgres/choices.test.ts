import { expect, onTestFinished, test } from "vitest";
import { openPgliteRuns } from "../testing/pglite-runs.ts";
import { PostgresRuns } from "./postgres-runs.ts";

test("what is put away is kept by the input's name, whatever the ids are made of", async () => {
  await using opened = await openPgliteRuns();
  const { runs } = opened;
  await runs.putAway("inbox.json", ["a", "\u0000", "\uD800"], "2026-11-30");
  await runs.putAway("other.json", ["a"], "9999-12-31");
  await runs.putAway("inbox.json", ["a"], "");
  const away = new Map([
    ["a", ""],
    ["\u0000", "2026-11-30"],
    ["\uD800", "2026-11-30"],
  ]);
  expect(await runs.away("inbox.json")).toEqual(away);
  expect(await runs.away("none.json")).toEqual(new Map());
});

test("an upgrade gives the roles of the other tables the same rights on the choices", async () => {
  await using opened = await openPgliteRuns();
  const { query } = opened.database;
  await query("drop table evaluator.choices");
  await query("update evaluator.schema_version set version = 8");
  await query('create role "a reader"; create role nobody');
  await query('grant select on all tables in schema evaluator to "a reader"');
  const upgraded = await PostgresRuns.open(opened.database);
  onTestFinished(() => upgraded[Symbol.asyncDispose]());
  const rights = await query<{ granted: boolean }>(
    `select has_table_privilege(role, 'evaluator.choices', what) as granted
     from (values ('a reader', 'select'), ('a reader', 'insert'), ('nobody', 'select')) as one (role, what)`,
  );
  expect(rights.map(({ granted }) => granted)).toEqual([true, false, false]);
});
