import { runTables } from "./run-tables.ts";
import { byIndex, chunkMoney } from "./chunk-money.ts";
import { ChunkQueue } from "./chunk-queue.ts";
import { DatabaseError } from "./database-error.ts";
import { type Connection, type Database, openDatabase, type Query } from "./database.ts";

const insertAnswers = `
  insert into evaluator.answers
      (key, run, setup, state_digest, evaluation, digest, input_tokens, cost_usd)
    select key, of_run, setup, state_digest, evaluation, digest, input_tokens, cost_usd
    from unnest(keys, setups, state_digests, evaluations, digests, tokens, costs)
      as given (key, setup, state_digest, evaluation, digest, input_tokens, cost_usd)
`;

// A join may read all failures of the run for each record; this looks one up.
const failureOf = "(select f.idx from evaluator.failures f where f.run = r.run and f.idx = r.idx)";

// Version 3.
const runFunctions = `
  -- What the program that loaded a record noted of it, and what of that all say.
  alter table evaluator.records add column note text;
  alter table evaluator.runs add column note_sample text;

  -- Keeps how calls ended. "since_answer" counts the failures after the last answer; a final one, or
  -- the last of "most_in_a_row" that may be tried again, stops the run.
  create function evaluator.keep_ends(
    of_run integer, keys text[], setups integer[], state_digests bytea[], evaluations text[],
    digests bytea[], tokens integer[], costs double precision[], failed integer[], errors text[],
    since_answer integer, final_error text, last_error text, most_in_a_row integer,
    beside_others boolean
  ) returns void ${byIndex} as $$
  declare
    has_answers boolean := cardinality(keys) > 0;
  begin
    -- The second form logs 48 bytes an answer less, and fails where another worker has just kept the
    -- same answer; the first does not.
    if has_answers and beside_others then
      ${insertAnswers} on conflict do nothing;
    elsif has_answers then
      ${insertAnswers}
        where not exists (select from evaluator.answers one where one.key = given.key);
    end if;
    if cardinality(failed) > 0 then
      insert into evaluator.failures (run, idx, error)
        select of_run, idx, error from unnest(failed, errors) as given (idx, error)
        on conflict (run, idx) do update set error = excluded.error;
    end if;
    update evaluator.runs set
      failed_in_a_row = case when has_answers then 0 else failed_in_a_row end + since_answer,
      state = case when state = 'open' and (final_error is not null or last_error is not null and
        case when has_answers then 0 else failed_in_a_row end + since_answer >= most_in_a_row)
        then 'stopped' else state end,
      stopped_by = coalesce(stopped_by, final_error, case when
        case when has_answers then 0 else failed_in_a_row end + since_answer >= most_in_a_row
        then last_error end)
    where run = of_run and (has_answers and failed_in_a_row > 0 or since_answer > 0);
  end
  $$;

  -- The records from "first" up to "beyond" that did not fail, with what is kept of their answers.
  create function evaluator.read_records(of_run integer, first integer, beyond integer)
  returns table (
    idx integer, id text, key text, state text, setup integer, state_digest text, evaluation text,
    digest text, cost_usd double precision
  ) stable ${byIndex} as $$
  begin
    return query
      select r.idx, r.id, r.key, r.state, a.setup, encode(a.state_digest, 'hex'), a.evaluation,
        encode(a.digest, 'hex'), case when a.run = r.run then a.cost_usd end
      from evaluator.records r left join evaluator.answers a on a.key = r.key
      where r.run = of_run and r.idx >= first and r.idx < beyond and ${failureOf} is null
      order by r.idx;
  end
  $$;
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
const limits = `
  drop function if exists evaluator.limiter_lease, evaluator.limiter_pause;
  drop table if exists evaluator.limiter, evaluator.limiter_member cascade;
  drop function if exists evaluator.milliseconds;

  create table if not exists evaluator.limits (
    key text primary key,
    version double precision not null default 0,
    state jsonb
  ) with (fillfactor = 50);
`;

// One function reads the clock, so that a test can drive it.
const oneClock = `
  create or replace function evaluator.now() returns timestamptz language sql as 'select clock_timestamp()';
  alter table evaluator.runs alter column created_at set default evaluator.now();
  alter table evaluator.workers
    alter column started_at set default evaluator.now(),
    alter column seen_at set default evaluator.now();
`;

const choices = `
  -- The records that a person put away, by the name of their input, and the day of their return.
  create table if not exists evaluator.choices (
    name text not null,
    id text not null,
    until text not null,
    primary key (name, id)
  );

  -- Who may use the other tables may use this one.
  do $$ declare
    granted record;
  begin
    for granted in select grantee, privilege_type from information_schema.table_privileges
      where table_schema = 'evaluator' and table_name = 'runs' and grantee <> current_user
        and privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
    loop
      execute format('grant %s on evaluator.choices to %s', granted.privilege_type,
        case granted.grantee when 'PUBLIC' then 'public' else quote_ident(granted.grantee) end);
    end loop;
  end $$;
`;

const wholeRuns = `
  -- When a run was complete before it was joined or opened again; the ids of a later run are new since such an end.
  alter table evaluator.runs add column if not exists earlier_ends timestamptz[] not null default '{}';

  -- A run that a failure stopped is stopped, also if its last record was the one that failed.
  do $$ begin
    execute replace(pg_get_functiondef('evaluator.finish_chunk'::regproc), 'when chunks_left = 1 then',
      'when chunks_left = 1 and (state <> ''stopped'' or failed + counted.failed = 0) then');
  end $$;
`;

/** The schema's migrations, in order; the first makes version 1, which had only limits. A function is in the last that makes it. */
const migrations = [
  "",
  runTables,
  runFunctions,
  refusals,
  limits,
  oneClock,
  "",
  chunkMoney,
  choices,
  wholeRuns,
];

// The oldest version that the PostgreSQL project supported in 2025.
const OLDEST_SERVER = 13;
// Any number that no other program on the database locks: "eval" in ASCII.
const MIGRATION_LOCK = 0x65_76_61_6c;

/**
 * Makes or upgrades the schemas `evaluator` and `evaluator_jobs`; `postgresLimits` and `postgresRuns` do
 * this themselves if their role may.
 *
 * @throws DatabaseError
 */
export async function migrate(connection: Connection): Promise<void> {
  const database = openDatabase(connection);
  try {
    await migrateDatabase(database);
    const queue = await ChunkQueue.open(database);
    await queue.close();
  } finally {
    await database.close();
  }
}

/** Makes or upgrades the schema in one transaction under a lock; writes nothing if it is up to date. */
export async function migrateDatabase(database: Database): Promise<void> {
  await checkServer(database.query);
  const foundVersion = await readVersion(database.query);
  if (foundVersion === migrations.length) return;
  const migrating = database.transaction(async ({ query }) => {
    await query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const version = await readVersion(query);
    if (version === null) await makeSchema(query);
    for (const migration of migrations.slice(version ?? 0)) await query(migration);
    await query(`update evaluator.schema_version set version = ${migrations.length}`);
  });
  await migrating.catch((error: unknown) => {
    throw foundVersion !== null && error instanceof DatabaseError
      ? toUpgradeError(error, foundVersion)
      : error;
  });
}

/** Returns the error of a role that may not upgrade the schema, such as one that only reads. */
function toUpgradeError(error: DatabaseError, version: number): DatabaseError {
  const { failure, code } = error;
  if (failure !== "denied" && failure !== "read-only") return error;
  return new DatabaseError(
    `The schema evaluator has version ${version}, this program needs ${migrations.length}, and this user may not upgrade it. Run a command of this version once as the schema's owner.`,
    { failure, code },
  );
}

async function checkServer(query: Query): Promise<void> {
  const [row] = await query<{ version: string }>(
    "select current_setting('server_version_num') as version",
  );
  const version = Math.floor(Number(row?.version) / 10_000);
  if (version >= OLDEST_SERVER) return;
  throw new DatabaseError(`PostgreSQL ${version} is too old; use ${OLDEST_SERVER} or newer.`, {
    failure: "too-old",
  });
}

/** Returns the schema's version, or null without a schema. */
async function readVersion(query: Query): Promise<number | null> {
  const [table] = await query<{ found: boolean }>(
    // Not to_regclass, which may still see the state before the wait for the lock.
    "select exists (select from pg_catalog.pg_tables where schemaname = 'evaluator' and tablename = 'schema_version') as found",
  );
  if (table?.found !== true) return null;
  const [row] = await query<{ version: number }>("select version from evaluator.schema_version");
  const version = row?.version ?? 0;
  if (version <= migrations.length) return version;
  throw new DatabaseError(
    `The schema evaluator has version ${version}, this program knows ${migrations.length}. Upgrade evaluator-runs, or use another database.`,
    { failure: "newer-schema" },
  );
}

async function makeSchema(query: Query): Promise<void> {
  // A role that may not create schemas may own an existing one.
  const [schema] = await query<{ found: boolean }>(
    "select exists (select from pg_catalog.pg_namespace where nspname = 'evaluator') as found",
  );
  if (schema?.found !== true) await query("create schema evaluator");
  await query("create table evaluator.schema_version (version integer not null)");
  await query("insert into evaluator.schema_version values (0)");
}
