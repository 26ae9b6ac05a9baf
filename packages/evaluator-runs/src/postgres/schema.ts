import { runFunctions } from "./run-functions.ts";
import { runTables } from "./run-tables.ts";

const limiter = `
  create table evaluator.limiter (
    key text primary key,
    -- The instants from which the next lease may send, by each of the two limits.
    request_at timestamptz not null default '-infinity',
    token_at timestamptz not null default '-infinity',
    -- The share of the limits that is used: falls when the service throttles, climbs afterwards.
    share double precision not null default 1,
    share_at timestamptz not null default clock_timestamp(),
    fell_at timestamptz not null default '-infinity',
    paused_until timestamptz not null default '-infinity',
    written_at timestamptz not null default '-infinity'
  ) with (fillfactor = 50);

  create table evaluator.limiter_member (
    key text not null,
    member text not null,
    seen_at timestamptz not null,
    primary key (key, member)
  );

  create function evaluator.milliseconds(at timestamptz, since timestamptz)
  returns double precision language sql immutable as $$
    select case when at = '-infinity' then 0 else
      1000 * extract(epoch from at - since)::double precision end
  $$;

  -- Climbs by 1 % of the limit a second.
  create function evaluator.limiter_share(stored evaluator.limiter, at timestamptz)
  returns double precision language sql immutable as $$
    select least(1, stored.share
      + 0.00001 * greatest(0, evaluator.milliseconds(at, stored.share_at)))
  $$;

  -- Returns the row, alone until the transaction ends, with written_at as the instant it is now.
  create function evaluator.lock_limiter(of_key text)
  returns evaluator.limiter language plpgsql as $$
  declare
    stored evaluator.limiter;
    at timestamptz;
    back interval;
  begin
    -- The row is logged, but nobody waits for the disk: a crash of the server forgets the last
    -- moments, and the first second after a start stays closed instead.
    perform set_config('synchronous_commit', 'off', true);
    select * into stored from evaluator.limiter where key = of_key for update;
    if not found then
      insert into evaluator.limiter (key) values (of_key) on conflict do nothing;
      select * into stored from evaluator.limiter where key = of_key for update;
    end if;
    at := clock_timestamp();
    -- Who is alone with the row sees no earlier instant than the one before, unless the server's
    -- clock went back: then everything goes back with it.
    if stored.written_at > at then
      back := stored.written_at - at;
      stored.request_at := stored.request_at - back;
      stored.token_at := stored.token_at - back;
      stored.share_at := stored.share_at - back;
      stored.fell_at := stored.fell_at - back;
      stored.paused_until := stored.paused_until - back;
    end if;
    stored.written_at := at;
    return stored;
  end
  $$;

  create function evaluator.write_limiter(stored evaluator.limiter)
  returns void language sql as $$
    update evaluator.limiter set request_at = stored.request_at, token_at = stored.token_at,
      share = stored.share, share_at = stored.share_at, fell_at = stored.fell_at,
      paused_until = stored.paused_until, written_at = stored.written_at
      where key = stored.key
  $$;

  create function evaluator.limiter_lease(
    of_key text, of_member text, requests double precision, tokens double precision,
    request_ms double precision, token_ms double precision,
    out wait_ms double precision, out gap_ms double precision,
    out members integer, out paused_ms double precision
  ) language plpgsql as $$
  declare
    stored evaluator.limiter := evaluator.lock_limiter(of_key);
    at timestamptz := stored.written_at;
    share double precision := evaluator.limiter_share(stored, at);
    begins timestamptz := greatest(at, stored.paused_until, stored.request_at,
      -- Tokens may be up to a second ahead of their rate, as in a bucket of one second's worth.
      stored.token_at - interval '1 s', pg_postmaster_start_time() + interval '1 s');
  begin
    insert into evaluator.limiter_member as one (key, member, seen_at)
      values (of_key, of_member, at)
      on conflict (key, member) do update set seen_at = excluded.seen_at
      where one.seen_at not between at - interval '1 s' and at;
    delete from evaluator.limiter_member where key = of_key
      and seen_at not between at - interval '10 s' and at + interval '10 s';
    select count(*) into members from evaluator.limiter_member where key = of_key;
    wait_ms := evaluator.milliseconds(begins, at);
    gap_ms := request_ms / share;
    paused_ms := greatest(0, evaluator.milliseconds(stored.paused_until, at));
    stored.request_at := begins + make_interval(secs => requests * gap_ms / 1000);
    stored.token_at := greatest(begins, stored.token_at)
      + make_interval(secs => tokens * token_ms / share / 1000);
    perform evaluator.write_limiter(stored);
  end
  $$;

  create function evaluator.limiter_pause(of_key text, ms double precision)
  returns void language plpgsql as $$
  declare
    stored evaluator.limiter := evaluator.lock_limiter(of_key);
    at timestamptz := stored.written_at;
  begin
    stored.paused_until := greatest(stored.paused_until, at + make_interval(secs => ms / 1000));
    -- One limit answers many calls with 429: the share falls once a second.
    if stored.fell_at <= at - interval '1 s' then
      stored.share := 0.8 * evaluator.limiter_share(stored, at);
      stored.share_at := at;
      stored.fell_at := at;
    end if;
    perform evaluator.write_limiter(stored);
    perform pg_notify('evaluator_pause', of_key || ' ' || ms);
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

/** The schema's migrations, in order; the first makes version 1. What was published never changes. */
export const migrations: readonly string[] = [limiter, runTables, runFunctions, refusals];
