import { type Clock, pause } from "evaluator-kit";
import { listDigests, toRunKey } from "./answers.ts";
import {
  CHUNK_SIZE,
  FAILURES_IN_A_ROW,
  type LeasedChunk,
  type RecordEnd,
  type RunWriter,
  type WriterOptions,
} from "../store/run-store.ts";
import { DatabaseError, type DatabaseFailure } from "./database-error.ts";
import type { Query } from "./database.ts";
import { Sample } from "./packed-text.ts";

// Measured: 0.12 statements per record at 64 in flight, without extra waiting.
const GROUP_SIZE = 200;
const GROUP_MS = 5;
// Chosen, not measured: fast after a restart, and few retries while a server is away for hours.
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5000;
const healing: ReadonlySet<DatabaseFailure> = new Set(["unreachable", "busy", "full", "read-only"]);

/** Options of a writer of a database. */
interface DatabaseWriterOptions extends WriterOptions {
  readonly query: Query;
  readonly clock: Clock;
}

type Lease = LeasedChunk["lease"];
type Waiting = PromiseWithResolvers<boolean> & { readonly end: RecordEnd; readonly lease?: Lease };

/**
 * Commits the outcomes of calls, several in one statement. Retries while the database is unreachable;
 * paid answers stay in memory, and their callers wait.
 */
export class AnswerWriter implements RunWriter {
  readonly #options: DatabaseWriterOptions;
  #waiting: Waiting[] = [];
  #isWriting = false;
  #packing: Packing = null;

  constructor(options: DatabaseWriterOptions) {
    this.#options = options;
  }

  /**
   * Resolves once an outcome is committed, with whether the lease was held then.
   *
   * @throws DatabaseError if that is impossible, or the signal's reason.
   */
  async keep(end: RecordEnd, lease?: Lease): Promise<boolean> {
    const waitingEnd = { end, ...(lease && { lease }), ...Promise.withResolvers<boolean>() };
    this.#waiting.push(waitingEnd);
    if (!this.#isWriting) void this.#writeAll();
    return await waitingEnd.promise;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    await pause(GROUP_MS, { clock: this.#options.clock });
    while (this.#waiting.length > 0) {
      const waitingGroup = this.#waiting.splice(0, GROUP_SIZE);
      try {
        const heldNames = await this.#write(waitingGroup);
        for (const { resolve, lease } of waitingGroup)
          resolve(lease === undefined || heldNames.has(lease.id));
      } catch (error) {
        for (const { reject } of waitingGroup) reject(error);
      }
    }
    this.#isWriting = false;
  }

  async #write(waitingGroup: readonly Waiting[]): Promise<ReadonlySet<string>> {
    const { query, onTrouble, signal, clock } = this.#options;
    for (let retryMs = FIRST_RETRY_MS, isLate = false; ; isLate = true) {
      try {
        const heldNames = await this.#keep(query, waitingGroup);
        if (isLate) onTrouble?.(null);
        return heldNames;
      } catch (error) {
        if (!(error instanceof DatabaseError) || !healing.has(error.failure)) throw error;
        signal.throwIfAborted();
        if (!isLate) onTrouble?.(error);
        await pause(retryMs, { clock, signal });
        signal.throwIfAborted();
        retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
      }
    }
  }

  async #keep(query: Query, waitingGroup: readonly Waiting[]): Promise<ReadonlySet<string>> {
    const { run } = this.#options;
    const ends = waitingGroup.map(({ end }) => end);
    const leasesJson = JSON.stringify(waitingGroup.flatMap(({ lease }) => lease ?? []));
    const first = ends.find((end) => "key" in end);
    if (first !== undefined) this.#packing ??= await readPacking(query, run, first.evaluation);
    const values = toValues(run, ends, this.#packing);
    const chunks = ends.flatMap((end) =>
      "key" in end && end.idx !== undefined ? Math.floor(end.idx / CHUNK_SIZE) : [],
    );
    // "true": another worker may have just kept the same answer.
    const [row] = await query<{ held: string[] }>(KEEP_ENDS, [...values, true, chunks, leasesJson]);
    const refusedIndexes = ends.flatMap((end) => ("error" in end && end.isRefusal ? end.idx : []));
    const refuseSql =
      "update evaluator.failures set is_refusal = true where run = $1 and idx = any($2)";
    if (refusedIndexes.length > 0) await query(refuseSql, [run, refusedIndexes]);
    return new Set(row?.held);
  }
}

/** The sample for the answers of a run. */
type Packing = Awaited<ReturnType<typeof readPacking>>;

/** Returns the sample of a run's answers, null if the run was removed; the first answer becomes the sample. */
async function readPacking(query: Query, runNumber: number, evaluation: string) {
  const [row] = await query<{ setup: number; sample: string }>(
    `update evaluator.setups set sample = coalesce(sample, $2)
     where setup = (select setup from evaluator.runs where run = $1) returning setup, sample`,
    [runNumber, evaluation],
  );
  return row === undefined ? null : { setup: row.setup, sample: new Sample(row.sample) };
}

// Returns the leases that are held. Without them, a worker asks on in a lost chunk until its next heartbeat.
const KEEP_ENDS = `select evaluator.count_again($1, $16, ${CHUNK_SIZE}), array(
    select id::text from json_to_recordset($17) as lease (id uuid, "retryCount" integer)
    join evaluator_jobs.job using (id)
    where name = 'run-' || $1 and state = 'active' and retry_count = "retryCount"
  ) as held from evaluator.keep_ends(${Array.from({ length: 15 }, (_, valueIndex) => `$${valueIndex + 1}`).join(", ")})`;

function toValues(runNumber: number, ends: readonly RecordEnd[], packing: Packing): unknown[] {
  const answers = ends.flatMap((end) => ("key" in end ? { ...end, key: toRunKey(end.key) } : []));
  const failures = ends.filter((recordEnd) => "error" in recordEnd);
  const answerDigests = answers.map(listDigests);
  const packedBytes = answers.map(({ evaluation }) => toPacked(evaluation, packing));
  const lastAnswer = ends.findLastIndex((recordEnd) => "key" in recordEnd);
  const lastFailure = failures.at(-1);
  const finalFailure = failures.find(({ isFinal }) => isFinal);
  return [
    runNumber,
    answers.map(({ key }) => key),
    packedBytes.map(({ setup }) => setup),
    answerDigests.map(([stateDigest]) => stateDigest),
    packedBytes.map(({ text }) => text),
    answerDigests.map(([, digest]) => digest),
    answers.map(({ inputTokens }) => inputTokens),
    answers.map(({ costUsd }) => costUsd),
    failures.map(({ idx }) => idx),
    failures.map(({ error }) => error),
    Math.max(ends.length - 1 - lastAnswer, finalFailure ? 1 : 0), // a final one stops in any case
    finalFailure?.error ?? null,
    lastFailure?.isRetryable === true ? lastFailure.error : null,
    FAILURES_IN_A_ROW,
  ];
}

function toPacked(evaluation: string, packing: Packing) {
  const text = packing?.sample.pack(evaluation) ?? null;
  return { text: text ?? evaluation, setup: text === null ? null : (packing?.setup ?? null) };
}
