/**
 * The tables of runs. All runs share one table of records: only the owner of the schema could add a
 * partition for each run. Ids and states are JSON, since a text of PostgreSQL cannot contain a zero
 * or half of a surrogate pair.
 */
const runTables = `
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

  -- Returns how much of what is wanted a chunk may cost: all that is left at the most.
  create function evaluator.reserve_chunk(
    of_run integer, of_chunk integer, wanted double precision
  ) returns double precision language plpgsql as $$
  declare
    most double precision;
    granted double precision := wanted;
  begin
    select max_cost_usd into most from evaluator.runs where run = of_run;
    if most is not null then
      -- Who reserves is alone, so that two of them never take the same dollar.
      select max_cost_usd - cost_usd into most from evaluator.runs where run = of_run for update;
      select least(wanted, greatest(0, most - coalesce(sum(reserved_usd), 0))) into granted
        from evaluator.chunks where run = of_run and chunk <> of_chunk and finished_at is null;
    end if;
    insert into evaluator.chunks as one (run, chunk, reserved_usd)
      values (of_run, of_chunk, granted)
      on conflict (run, chunk) do update set reserved_usd = excluded.reserved_usd;
    return granted;
  end
  $$;

  -- Returns whether every record of a chunk has its end, and counts it once when it has.
  create function evaluator.finish_chunk(
    of_run integer, of_chunk integer, first integer, beyond integer
  ) returns boolean language plpgsql as $$
  declare
    counted record;
  begin
    select * into counted from evaluator.count_chunk(of_run, first, beyond);
    if counted.answered + counted.failed < counted.records then return false; end if;
    update evaluator.chunks set answered = counted.answered, asked = counted.asked,
        failed = counted.failed, input_tokens = counted.input_tokens, cost_usd = counted.cost_usd,
        finished_at = clock_timestamp()
      where run = of_run and chunk = of_chunk and finished_at is null;
    if not found then return true; end if;
    update evaluator.runs set chunks_left = chunks_left - 1,
        answered = answered + counted.answered, asked = asked + counted.asked,
        failed = failed + counted.failed, input_tokens = input_tokens + counted.input_tokens,
        cost_usd = cost_usd + counted.cost_usd,
        state = case when chunks_left = 1 then 'done' else state end,
        finished_at = case when chunks_left = 1 then clock_timestamp() end
      where run = of_run;
    return true;
  end
  $$;

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

// Frequent statements are functions: the server plans a function once per connection, which takes
// 66,000 of its instructions per answer instead of 116,000. A plan may be made while a table is empty
// and used when it has millions of rows, so each uses the indexes whatever the statistics.
const byIndex = `language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off`;

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

  -- Counts the records from "first" up to "beyond"; in version 2 it was written in SQL.
  create or replace function evaluator.count_chunk(
    of_run integer, first integer, beyond integer,
    out records integer, out answered integer, out asked integer, out failed integer,
    out input_tokens bigint, out cost_usd double precision
  ) stable ${byIndex} as $$
  begin
    select count(*), count(a.key), count(a.key) filter (where a.run = of_run),
        count(*) filter (where a.key is null and ${failureOf} is not null),
        coalesce(sum(a.input_tokens) filter (where a.run = of_run), 0),
        coalesce(sum(a.cost_usd) filter (where a.run = of_run), 0)
      into records, answered, asked, failed, input_tokens, cost_usd
      from evaluator.records r
        left join evaluator.answers a on a.key = r.key
      where r.run = of_run and r.idx >= first and r.idx < beyond;
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

/** The schema's migrations, in order; the first makes version 1, which had only limits. */
export const migrations: readonly string[] = ["", runTables, runFunctions, refusals, limits];
