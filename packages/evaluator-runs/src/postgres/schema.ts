import { runFunctions } from "./run-functions.ts";
import { runTables } from "./run-tables.ts";

const limits = `
  create table evaluator.limits (
    key text primary key,
    version double precision not null default 0,
    state jsonb
  ) with (fillfactor = 50);
  `;

const refusals = `
  -- Whether the service refuses the call each time, so that it is not made again.
  alter table evaluator.failures add column is_refusal boolean not null default false;
  create index on evaluator.failures (run, idx) where is_refusal;

  create view evaluator.refusals as
    select r.key, f.error from evaluator.failures f join evaluator.records r using (run, idx)
    where f.is_refusal;
  `;

// Up to version 4, functions of the database computed the limits.
const limitsAsRows = `
  drop function if exists evaluator.limiter_lease, evaluator.limiter_pause;
  drop table if exists evaluator.limiter, evaluator.limiter_member cascade;
  drop function if exists evaluator.milliseconds;
  ${limits.replace("create table", "create table if not exists")}`;

/** The schema's migrations, in order; the first makes version 1. */
export const migrations: readonly string[] = [
  limits,
  runTables,
  runFunctions,
  refusals,
  limitsAsRows,
];
