// Frequent statements are functions: the server plans a function once per connection, which takes
// 66,000 of its instructions per answer instead of 116,000. A plan may be made while a table is empty
// and used when it has millions of rows, so each uses the indexes whatever the statistics.
/** The language of a frequent statement. */
export const byIndex = `language plpgsql
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off`;

/**
 * What chunks may cost. `reserved_usd` of a chunk under way covers its kept answers, the calls in flight and
 * `uncounted_usd`: what may have been charged for without an answer that is kept. A worker that dies
 * reports nothing, so the next one counts all that was reserved. `lease` names the worker; null after it.
 */
export const chunkMoney = `
  -- Null: the answer was paid for, and its cost is not known.
  alter table evaluator.answers alter column cost_usd drop not null;
  alter table evaluator.chunks
    add column if not exists lease text,
    add column if not exists uncounted_usd double precision not null default 0,
    add column if not exists is_unpriced boolean not null default false;
  -- Workers of the version before may have spent all that they reserved.
  update evaluator.chunks set lease = '' where finished_at is null and lease is null;
  alter table evaluator.runs
    add column if not exists uncounted_usd double precision not null default 0,
    add column if not exists is_unpriced boolean not null default false;

  drop function if exists evaluator.count_chunk, evaluator.reserve_chunk, evaluator.finish_chunk;

  -- Counts the records from "first" up to "beyond".
  create or replace function evaluator.count_chunk(
    of_run integer, first integer, beyond integer,
    out records integer, out answered integer, out asked integer, out failed integer,
    out input_tokens bigint, out cost_usd double precision, out is_unpriced boolean
  ) stable ${byIndex} as $$
  begin
    select count(*), count(a.key), count(a.key) filter (where a.run = of_run),
        count(*) filter (where a.key is null and
          (select f.idx from evaluator.failures f where f.run = r.run and f.idx = r.idx) is not null),
        coalesce(sum(a.input_tokens) filter (where a.run = of_run), 0),
        coalesce(sum(a.cost_usd) filter (where a.run = of_run), 0),
        coalesce(bool_or(a.run = of_run and a.cost_usd is null), false)
      into records, answered, asked, failed, input_tokens, cost_usd, is_unpriced
      from evaluator.records r left join evaluator.answers a on a.key = r.key
      where r.run = of_run and r.idx >= first and r.idx < beyond;
  end
  $$;

  -- Returns what is uncounted of a sum beside the answers that are kept. Sums of many prices differ by roundings.
  create or replace function evaluator.uncounted(before double precision, spent double precision, kept double precision)
  returns double precision immutable language sql as 'select case when spent - kept > 1e-12 then greatest(before, spent - kept) else before end';

  -- Gives a chunk to a worker, and returns what it has cost, or may have.
  create or replace function evaluator.take_chunk(
    of_run integer, of_chunk integer, of_lease text, first integer, beyond integer
  ) returns double precision language plpgsql as $$
  declare
    kept double precision := (select cost_usd from evaluator.count_chunk(of_run, first, beyond));
    lost double precision;
  begin
    insert into evaluator.chunks (run, chunk, reserved_usd) values (of_run, of_chunk, 0)
      on conflict do nothing;
    update evaluator.chunks set lease = of_lease,
        uncounted_usd = case when lease is distinct from of_lease and finished_at is null
          then evaluator.uncounted(uncounted_usd, reserved_usd, kept) else uncounted_usd end
      where run = of_run and chunk = of_chunk returning uncounted_usd into lost;
    return kept + lost;
  end
  $$;

  -- Returns how much of what is wanted a chunk may cost: all that is left at the most; null if another worker has it.
  create or replace function evaluator.reserve_chunk(
    of_run integer, of_chunk integer, of_lease text, wanted double precision
  ) returns double precision language plpgsql as $$
  declare
    most double precision;
    granted double precision := wanted;
  begin
    select max_cost_usd into most from evaluator.runs where run = of_run;
    if most is not null then
      -- Who reserves is alone, so that two of them never take the same dollar.
      select max_cost_usd - cost_usd - uncounted_usd into most
        from evaluator.runs where run = of_run for update;
      select least(wanted, greatest(0, most - coalesce(sum(reserved_usd), 0))) into granted
        from evaluator.chunks where run = of_run and chunk <> of_chunk and finished_at is null;
    end if;
    -- If the maximum was lowered, what was granted before may be spent.
    update evaluator.chunks set reserved_usd = greatest(granted, least(wanted, reserved_usd))
      where run = of_run and chunk = of_chunk and lease = of_lease;
    return case when found then granted end;
  end
  $$;

  -- Returns whether every record of a chunk has its end, and counts it once when it has. "spent" is what
  -- the worker has spent on the chunk, with what was spent before it.
  create or replace function evaluator.finish_chunk(
    of_run integer, of_chunk integer, of_lease text, spent double precision, first integer, beyond integer
  ) returns boolean language plpgsql as $$
  declare
    counted record;
    before record;
    lost double precision;
  begin
    -- In the order of reserve_chunk, which would wait for this one else.
    perform from evaluator.runs where run = of_run for update;
    select * into before from evaluator.chunks where run = of_run and chunk = of_chunk for update;
    -- Who opened the run again meanwhile removed its failures.
    select * into counted from evaluator.count_chunk(of_run, first, beyond);
    lost := evaluator.uncounted(before.uncounted_usd, spent, counted.cost_usd);
    if before.finished_at is not null then
      update evaluator.chunks set uncounted_usd = lost where run = of_run and chunk = of_chunk;
      update evaluator.runs set uncounted_usd = uncounted_usd + lost - before.uncounted_usd
        where run = of_run;
      return true;
    elsif counted.answered + counted.failed < counted.records then
      update evaluator.chunks set uncounted_usd = lost,
          reserved_usd = case when lease = of_lease then counted.cost_usd + lost else reserved_usd end,
          lease = nullif(lease, of_lease)
        where run = of_run and chunk = of_chunk;
      return false;
    end if;
    update evaluator.chunks set answered = counted.answered, asked = counted.asked,
        failed = counted.failed, input_tokens = counted.input_tokens, cost_usd = counted.cost_usd,
        is_unpriced = counted.is_unpriced, uncounted_usd = lost, lease = nullif(lease, of_lease),
        finished_at = evaluator.now()
      where run = of_run and chunk = of_chunk;
    if not found then return true; end if;
    update evaluator.runs set chunks_left = chunks_left - 1,
        answered = answered + counted.answered, asked = asked + counted.asked,
        failed = failed + counted.failed, input_tokens = input_tokens + counted.input_tokens,
        cost_usd = cost_usd + counted.cost_usd, uncounted_usd = uncounted_usd + lost,
        is_unpriced = is_unpriced or counted.is_unpriced,
        state = case when chunks_left = 1 then 'done' else state end,
        finished_at = case when chunks_left = 1 then evaluator.now() end
      where run = of_run;
    return true;
  end
  $$;

  -- Counts finished chunks again: a worker that was away may answer a record at which another one failed.
  -- Then counts their run; with null for the chunks, only the run.
  create or replace function evaluator.count_again(of_run integer, of_chunks integer[], size integer)
  returns void ${byIndex} as $$
  begin
    update evaluator.chunks set (answered, asked, failed, input_tokens, cost_usd, is_unpriced) = (
        select answered, asked, failed, input_tokens, cost_usd, is_unpriced
        from evaluator.count_chunk(of_run, chunk * size, (chunk + 1) * size))
      where run = of_run and chunk = any(of_chunks) and finished_at is not null;
    if not found and of_chunks is not null then return; end if;
    -- Who finishes another chunk meanwhile adds its counts before or after this.
    perform from evaluator.runs where run = of_run for update;
    update evaluator.runs
      set (answered, asked, failed, input_tokens, cost_usd, uncounted_usd, is_unpriced) = (
        select coalesce(sum(answered), 0), coalesce(sum(asked), 0), coalesce(sum(failed), 0),
          coalesce(sum(input_tokens), 0), coalesce(sum(cost_usd), 0),
          coalesce(sum(uncounted_usd), 0), coalesce(bool_or(is_unpriced), false)
        from evaluator.chunks where run = of_run and finished_at is not null)
      where run = of_run;
  end
  $$;

  -- Opens chunks again for other workers; what they have cost, or may have, stays reserved.
  create or replace function evaluator.open_chunks(of_run integer, of_chunks integer[], size integer)
  returns void language sql as $$
    with known as (
      select chunk, cost, case when finished_at is not null then uncounted_usd
          else evaluator.uncounted(uncounted_usd, reserved_usd, cost) end as lost
        from (select *, case when finished_at is not null then cost_usd
            else (evaluator.count_chunk(run, chunk * size, (chunk + 1) * size)).cost_usd end as cost
          from evaluator.chunks where run = of_run and chunk = any(of_chunks)) one
    )
    update evaluator.chunks one set finished_at = null, lease = null, uncounted_usd = lost,
        reserved_usd = cost + lost
      from known where one.run = of_run and one.chunk = known.chunk
  $$;

  -- Sets the most that a run may cost. Chunks that were begun without one reserve what they have cost.
  create or replace function evaluator.cap_run(of_run integer, most double precision, size integer)
  returns void language sql as $$
    update evaluator.runs set max_cost_usd = most where run = of_run;
    update evaluator.chunks set reserved_usd = greatest(reserved_usd, uncounted_usd
        + (evaluator.count_chunk(of_run, chunk * size, (chunk + 1) * size)).cost_usd)
      where run = of_run and finished_at is null
  $$;
`;
