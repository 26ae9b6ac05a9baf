import { CHUNK_SIZE } from "./chunk-queue.ts";
import type { Query } from "./database.ts";

// Ten of the reports that a worker writes each second, as long as the heartbeat of a chunk.
const WORKER_IS_THERE_SECONDS = 10;

/** The questions of a run, and the service. */
export interface RunSetup {
  /** A hash of the three fields below; a worker with another hash would ask other calls. */
  readonly hash: string;
  readonly wire: string;
  readonly modelId: string;
  /** The questions as JSON. */
  readonly questions: string;
}

/** Whether a run is being loaded, is open, was stopped early, or is complete. */
export type RunState = "loading" | "open" | "stopped" | "done";

/** A run and its totals, with the current counts of unfinished chunks. */
export interface RunInfo {
  /** Runs are numbered from 1. */
  readonly run: number;
  /** A hash of the setup and of every record in order. */
  readonly digest: string;
  /** The name of its input. */
  readonly name: string;
  /** The creator's facts, as JSON. */
  readonly facts: string;
  readonly setup: RunSetup;
  readonly state: RunState;
  /** The reason for a stop, or null. */
  readonly stoppedBy: string | null;
  readonly records: number;
  /** The most it may cost, in US dollars; null for no bound. */
  readonly maxCostUsd: number | null;
  /** Records that have an answer. */
  readonly answered: number;
  /** Of these, the ones that this run asked for. */
  readonly asked: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly costUsd: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

/** A worker that reported recently. */
export interface WorkerInfo {
  readonly worker: string;
  /** Its machine and process. */
  readonly name: string;
  readonly answered: number;
  readonly failed: number;
  readonly inFlight: number;
  /** Answers a second, lately. */
  readonly perSecond: number;
  /** How long ago it was last seen, in milliseconds. */
  readonly seenMsAgo: number;
}

const columns = `
  run, digest, name, facts, state, stopped_by as "stoppedBy", runs.records, max_cost_usd as "maxCostUsd",
  runs.answered + coalesce(part.answered, 0)::integer as answered,
  runs.asked + coalesce(part.asked, 0)::integer as asked,
  runs.failed + coalesce(part.failed, 0)::integer as failed,
  (runs.input_tokens + coalesce(part.input_tokens, 0))::float8 as "inputTokens",
  runs.cost_usd + coalesce(part.cost_usd, 0) as "costUsd",
  created_at as "createdAt", finished_at as "finishedAt",
  json_build_object('hash', hash, 'wire', wire, 'modelId', model, 'questions', questions) as setup
`;

const source = `
  evaluator.runs join evaluator.setups using (setup) left join lateral (
    select sum(counted.answered) as answered, sum(counted.asked) as asked,
      sum(counted.failed) as failed, sum(counted.input_tokens) as input_tokens,
      sum(counted.cost_usd) as cost_usd
    from evaluator.chunks c,
      evaluator.count_chunk(c.run, c.chunk * ${CHUNK_SIZE}, (c.chunk + 1) * ${CHUNK_SIZE}) as counted
    where c.run = runs.run and c.finished_at is null
  ) as part on true
`;

/** Returns all runs, the oldest first, or the one that is named. */
export async function readRuns(query: Query, run: number | null = null): Promise<RunInfo[]> {
  return await query<RunInfo>(
    `select ${columns} from ${source} where $1::integer is null or run = $1 order by run`,
    [run],
  );
}

/** Returns the workers of a run that were seen in the last ten seconds. */
export async function readWorkers(query: Query, run: number): Promise<WorkerInfo[]> {
  return await query<WorkerInfo>(
    `select worker, name, answered, failed, in_flight as "inFlight", per_second as "perSecond",
       (1000 * extract(epoch from clock_timestamp() - seen_at))::float8 as "seenMsAgo"
     from evaluator.workers
     where run = $1 and seen_at > clock_timestamp() - make_interval(secs => ${WORKER_IS_THERE_SECONDS})
     order by started_at`,
    [run],
  );
}
