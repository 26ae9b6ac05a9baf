/**
 * The tables of runs. All runs share one table of records: only the owner of the schema could add a
 * partition for each run. Ids and states are JSON, since a text of PostgreSQL cannot contain a zero
 * or half of a surrogate pair.
 */
export const runTables = `
  create table evaluator.setups (
    setup integer generated always as identity primary key,
    hash text not null unique,
    wire text not null,
    model text not null,
    questions text not null,
    -- The first answer that came: most of what all of them say, so they are kept as what differs.
    sample text
  );

  create table evaluator.runs (
    run integer primary key,
    -- Of the setup and of every record in order: the same command on two machines is one run.
    digest text not null unique,
    setup integer not null references evaluator.setups,
    name text not null,
    facts text not null,
    -- The state of the first record: most of what all of them say, so they are kept as what differs.
    state_sample text,
    state text not null default 'loading' check (state in ('loading', 'open', 'stopped', 'done')),
    stopped_by text,
    records integer not null,
    chunks_left integer not null,
    max_cost_usd double precision,
    -- Calls in a row, of all workers, that failed and may be tried again.
    failed_in_a_row integer not null default 0,
    -- Of the chunks that are finished.
    answered integer not null default 0,
    asked integer not null default 0,
    failed integer not null default 0,
    input_tokens bigint not null default 0,
    cost_usd double precision not null default 0,
    created_at timestamptz not null default clock_timestamp(),
    opened_at timestamptz,
    finished_at timestamptz
  ) with (fillfactor = 50);

  create table evaluator.records (
    run integer not null,
    idx integer not null,
    id text not null,
    key text not null,
    state text not null,
    primary key (run, idx)
  );

  -- By content, for all runs: what was asked once is never paid for again.
  create table evaluator.answers (
    -- The numbers come first, where they need no space between them.
    cost_usd double precision not null,
    input_tokens integer not null,
    run integer not null,
    -- Null where the evaluation is not the difference to a sample.
    setup integer,
    key text primary key,
    state_digest bytea not null,
    evaluation text not null,
    digest bytea not null
  );

  create table evaluator.failures (
    run integer not null,
    idx integer not null,
    error text not null,
    primary key (run, idx)
  );

  -- The chunks that some worker has had; reserved_usd is what they may cost while they are open.
  create table evaluator.chunks (
    run integer not null,
    chunk integer not null,
    reserved_usd double precision not null,
    answered integer not null default 0,
    asked integer not null default 0,
    failed integer not null default 0,
    input_tokens bigint not null default 0,
    cost_usd double precision not null default 0,
    finished_at timestamptz,
    primary key (run, chunk)
  ) with (fillfactor = 80);
  create index on evaluator.chunks (run) where finished_at is null;

  create table evaluator.workers (
    worker text primary key,
    run integer not null,
    name text not null,
    started_at timestamptz not null default clock_timestamp(),
    seen_at timestamptz not null default clock_timestamp(),
    answered integer not null default 0,
    failed integer not null default 0,
    in_flight integer not null default 0,
    per_second double precision not null default 0
  ) with (fillfactor = 50);

  -- Forgets a run; the answers stay, for others that ask the same.
  create function evaluator.forget_run(of_run integer) returns void language sql as $$
    -- First, as it waits for a load to end, whose records would stay without a run.
    delete from evaluator.runs where run = of_run;
    delete from evaluator.chunks where run = of_run;
    delete from evaluator.failures where run = of_run;
    delete from evaluator.records where run = of_run;
    delete from evaluator.workers where run = of_run;
  $$;
`;
