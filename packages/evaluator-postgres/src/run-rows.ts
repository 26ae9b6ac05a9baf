import { type AnswerRow, readEvaluation, readSamples, type Samples } from "./answers.ts";
import type { Database, Query } from "./database.ts";

/** A record of a run, and how it ended. */
export interface RunRow {
  readonly idx: number;
  readonly id: string;
  readonly key: string;
  /** What the model read, as JSON. */
  readonly state: string;
  /** The answer as JSON; null when none is there as it was written. */
  readonly evaluation: string | null;
  /** Whether there is an answer that is not as it was written. */
  readonly isChanged: boolean;
  /** What went wrong, or null. */
  readonly error: string | null;
}

const fields = `
  r.idx, r.id, r.key, r.state, encode(a.state_digest, 'hex'), encode(a.digest, 'hex'),
  a.setup, a.evaluation, f.error
`;
const source = `
  evaluator.records r left join evaluator.answers a on a.key = r.key
    left join evaluator.failures f on f.run = r.run and f.idx = r.idx
`;

/**
 * Returns the records of a run in input order, all from one snapshot, by one COPY. Its plan is one
 * that begins at once and sorts nothing: a million records are not written to the disk first.
 */
export async function* runRows(database: Database, run: number): AsyncGenerator<RunRow> {
  const pieces = new Pieces();
  let samples: Samples = new Map();
  // The transaction is open as long as its rows are taken.
  const done = database
    .transaction(async ({ query, copyOut }) => {
      await query("set transaction isolation level repeatable read, read only");
      samples = await readSamples(query);
      for (const plan of ["hashjoin", "mergejoin", "sort"])
        await query(`set local enable_${plan} = off`);
      const text = `copy (select ${fields} from ${source} where r.run = ${run} order by r.idx) to stdout`;
      for await (const piece of copyOut(text)) await pieces.give(piece);
    })
    .then(
      () => pieces.end(),
      (error: unknown) => pieces.fail(error),
    );
  try {
    const decoder = new TextDecoder();
    let rest = "";
    for (let piece = await pieces.take(); piece !== null; piece = await pieces.take()) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield toRow(line.split("\t").map(fromCopyText), samples);
    }
  } finally {
    pieces.leave();
    await done;
  }
}

/** Hands pieces from one who reads to one who takes, one at a time. */
class Pieces {
  #piece: Uint8Array | null = null;
  #error: unknown = null;
  #isOver = false;
  #isLeft = false;
  #wakeTaker: () => void = () => {};
  #wakeGiver: () => void = () => {};

  /** Resolves when the piece was taken. @throws when nobody takes any more, which closes the connection. */
  async give(piece: Uint8Array): Promise<void> {
    this.#piece = piece;
    this.#wakeTaker();
    while (this.#piece !== null && !this.#isLeft) {
      await new Promise<void>((resolve) => (this.#wakeGiver = resolve));
    }
    if (this.#isLeft) throw new Error("Nobody takes the rows any more.");
  }

  async take(): Promise<Uint8Array | null> {
    while (this.#piece === null && !this.#isOver) {
      await new Promise<void>((resolve) => (this.#wakeTaker = resolve));
    }
    if (this.#error !== null) throw this.#error;
    const piece = this.#piece;
    this.#piece = null;
    this.#wakeGiver();
    return piece;
  }

  end(): void {
    this.#isOver = true;
    this.#wakeTaker();
  }

  fail(error: unknown): void {
    this.#error = error;
    this.end();
  }

  leave(): void {
    this.#isLeft = true;
    this.#wakeGiver();
  }
}

type Cells = readonly (string | null)[];

function toRow(cells: Cells, samples: Samples): RunRow {
  const [idx, id, key, state, stateDigest, digest, setup, packed, error] = cells;
  const row = {
    key: key ?? "",
    state_digest: stateDigest ?? "",
    digest: digest ?? "",
    setup: setup == null ? null : Number(setup),
    evaluation: packed ?? "",
  } satisfies AnswerRow;
  const isThere = packed != null;
  const evaluation = isThere ? readEvaluation(row, samples, state ?? "") : null;
  return {
    idx: Number(idx),
    id: JSON.parse(id ?? '""') as string,
    key: row.key,
    state: state ?? "null",
    evaluation,
    isChanged: isThere && evaluation === null,
    error: error ?? null,
  };
}

const escapes: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** Returns what a cell of COPY's text format says. */
function fromCopyText(cell: string): string | null {
  if (!cell.includes("\\")) return cell;
  if (cell === "\\N") return null;
  return cell.replace(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter);
}

/** Returns a record by its id: of one run, or of the newest that has it. */
export async function findRecord(
  query: Query,
  id: string,
  run: number | null,
): Promise<(RunRow & { run: number }) | null> {
  const rows = await query<Record<string, string | null> & { run: number }>(
    `select r.run, r.idx::text as "0", r.id as "1", r.key as "2", r.state as "3",
       encode(a.state_digest, 'hex') as "4", encode(a.digest, 'hex') as "5",
       a.setup::text as "6", a.evaluation as "7", f.error as "8"
     from ${source} where r.id = $1 and ($2::integer is null or r.run = $2)
     order by r.run desc limit 1`,
    [JSON.stringify(id), run],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const cells = Array.from({ length: 9 }, (_, at) => row[at] ?? null);
  return { ...toRow(cells, await readSamples(query)), run: row.run };
}
