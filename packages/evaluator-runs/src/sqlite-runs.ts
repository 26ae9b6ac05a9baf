import { basename } from "node:path";
import { CliError, printable } from "evaluator-kit";
import type { JsonValue } from "evaluator-client";
import type { RecordInput, RunRecord } from "./input/record-source.ts";
import type { RunBegin, RunFacts, StoredFacts } from "./run-facts.ts";
import type { RunRow } from "./store/run-query.ts";
import type { FoundRow, NewRecords, RunInfo, RunSetup, StoredRuns } from "./store/stored-runs.ts";
import type { JournalReader } from "./journal/journal-reader.ts";
import { type CallSetup, isKeyOf, setupHash } from "./journal/kept-answer.ts";

/** The input of a journal in a file. */
interface JournalInput {
  readonly path: string;
  /** The word for one of its records. */
  readonly word: string;
  /** Opens it with the options that a run kept. */
  readonly open: (options: RunBegin["options"] | undefined) => Promise<RecordInput>;
}

/** The runs of a journal in a file: the complete ones, and one after them that was begun. */
export class SqliteRuns implements StoredRuns {
  readonly isShared = false;
  readonly #journal: JournalReader;
  readonly #input: JournalInput;
  #openedPromise: Promise<RecordInput> | null = null;
  #runs: readonly FileRun[] | null = null;

  constructor(journal: JournalReader, input: JournalInput) {
    this.#journal = journal;
    this.#input = input;
  }

  async list(): Promise<RunInfo[]> {
    return this.#all().map(({ info }) => info);
  }

  async get(run: number): Promise<RunInfo> {
    const { info } = this.#all()[run - 1] ?? {};
    if (info !== undefined) return info;
    throw new CliError(printable`There is no run ${String(run)} in ${this.#journal.path}.`);
  }

  async *rows(run: number, isOrdered = true): AsyncGenerator<RunRow> {
    const all = this.#all();
    if (run !== all.length) {
      const problem = printable`${this.#journal.path} keeps the records of its newest run alone`;
      throw new CliError(`${problem}, which is run ${all.length}; leave --run out.`);
    }
    yield* isOrdered ? this.#orderedRows(run) : this.#keptRows(run);
  }

  /** Reads the rows in the order of the input. */
  async *#orderedRows(run: number): AsyncGenerator<RunRow> {
    const input = await this.#openInput(run);
    const error = `The ${this.#input.word} has changed since it was asked about; run again.`;
    for await (const { index: idx, record } of input.records(this.#begin(run)?.mails)) {
      const row = this.#journal.row(record.id) ?? unknownRow(record.id);
      const isCurrent =
        row.evaluation === null || isAbout(record, JSON.parse(row.state) as JsonValue);
      yield Object.assign(
        row,
        { idx, input: record },
        isCurrent ? null : { evaluation: null, error },
      );
    }
  }

  /** Reads the rows from the journal alone, in no order, in a third of the time. */
  async *#keptRows(run: number): AsyncGenerator<RunRow> {
    // The journal keeps only the id of a record without an answer.
    const open = new Map<string, RunRow>();
    for (const row of this.#journal.rows(this.#all()[run - 1]?.info.setup.hash ?? "")) {
      if (row.evaluation === null) open.set(row.id, row);
      else yield row;
    }
    if (open.size === 0) return;
    for await (const { record } of (await this.#openInput(run)).records()) {
      const row = open.get(record.id);
      if (row !== undefined) yield Object.assign(row, { input: record });
    }
  }

  async find(id: string, run: number | null = null): Promise<FoundRow | null> {
    const row = this.#journal.row(id);
    if (row === null) return null;
    // The run that saw it is the first that was complete afterwards, or the one that was not.
    const all = this.#all();
    const fileRun = all.find((one) => one.row === null || one.row >= row.seen) ?? all.at(-1);
    if (fileRun === undefined || (run ?? fileRun.info.run) !== fileRun.info.run) return null;
    const { evaluation, key } = row;
    // A run with other questions may have been complete since then, about other records.
    const call = this.#askedCall(id) ?? { state: row.state, setup: fileRun.info.setup };
    const isWhole = evaluation !== null && isKeyOf(key, call.setup.hash, call.state);
    const isChanged = row.isChanged || (evaluation !== null && !isWhole);
    const keptText = isWhole ? evaluation : null;
    return { ...row, ...call, isChanged, evaluation: keptText, run: fileRun.info.run };
  }

  #askedCall(id: string) {
    const call = this.#journal.askedCall(id);
    return call && { state: call.state, setup: toRunSetup(call.setup) };
  }

  async newIds(): Promise<NewRecords | null> {
    return this.#journal.newRecords();
  }

  async away(): Promise<ReadonlyMap<string, string>> {
    return this.#journal.putAway();
  }

  /** Returns the newest answer of each record of all runs that has one. */
  answered(): ReturnType<JournalReader["answered"]> {
    return this.#journal.answered();
  }

  #openInput(run: number): Promise<RecordInput> {
    return (this.#openedPromise ??= this.#input.open(this.#begin(run)?.options));
  }

  #begin(run: number): RunBegin | null {
    return this.#all()[run - 1]?.begin ?? null;
  }

  #all(): readonly FileRun[] {
    return (this.#runs ??= readRuns(this.#journal, basename(this.#input.path)));
  }
}

/** A run of a file, and the row of its end; null if it is not complete. */
interface FileRun {
  readonly info: RunInfo;
  readonly begin: RunBegin | null;
  readonly row: number | null;
}

function readRuns(journal: JournalReader, name: string): FileRun[] {
  const newest = journal.newestRun();
  if (newest === null) return [];
  const complete = journal.completeRuns();
  const isOpen = newest.row > (complete.at(-1)?.row ?? -1);
  const toSetup = (hash: string | null) => (hash === null ? null : journal.setupOf(hash));
  const runs = complete.map(({ row, setup, facts }, at) => {
    const isNewest = !isOpen && at === complete.length - 1;
    const begin = isNewest ? newest.begin : null;
    const runFacts = { ...begin, ...facts, complete: facts };
    const info = toInfo({ run: at + 1, name, setup: toSetup(isNewest ? null : setup) ?? newest });
    return {
      row,
      begin,
      info: { ...info, ...listCounts(facts), facts: JSON.stringify(runFacts) },
    };
  });
  if (!isOpen) return runs;
  const { begin } = newest;
  const { calibration } = complete.at(-1)?.facts ?? {};
  const storedFacts: StoredFacts = { ...begin, ...(calibration && { calibration }) };
  const info = toInfo({ run: runs.length + 1, name, setup: newest });
  const records = begin?.mails ?? 0;
  return [
    ...runs,
    { row: null, begin, info: { ...info, records, facts: JSON.stringify(storedFacts) } },
  ];
}

function toInfo({
  run,
  name,
  setup,
}: Pick<RunInfo, "run" | "name"> & { readonly setup: CallSetup }): RunInfo {
  return {
    run,
    name,
    digest: "",
    facts: "{}",
    setup: toRunSetup(setup),
    state: "open",
    stoppedBy: null,
    records: 0,
    maxCostUsd: null,
    answered: 0,
    asked: 0,
    failed: 0,
    inputTokens: 0,
    costUsd: 0,
    uncountedUsd: 0,
    createdAt: new Date(0),
    finishedAt: null,
  };
}

function listCounts(facts: RunFacts) {
  const {
    mails: records,
    answered: askedCount,
    failed: failedCount,
    inputTokens,
    costUsd,
    isUnpriced,
  } = facts;
  const finishedAt = new Date(facts.finishedAt);
  return {
    state: "done" as const,
    records,
    asked: askedCount,
    answered: records - failedCount,
    failed: failedCount,
    inputTokens,
    costUsd: isUnpriced === true ? null : costUsd,
    createdAt: new Date(finishedAt.getTime() - facts.elapsedMs),
    finishedAt,
  };
}

function toRunSetup({ questions, service }: CallSetup): RunSetup {
  const { address: wire, modelId } = service;
  const hash = setupHash({ questions, service });
  return { hash, wire, modelId, questions: JSON.stringify(questions) };
}

function unknownRow(id: string): RunRow {
  const none = { note: null, evaluation: null, error: null };
  return { idx: 0, id, key: "", state: "null", ...none, isChanged: false, isOwn: false };
}

// A state has more than these keys if a run added some.
function isAbout(record: RunRecord, state: JsonValue): boolean {
  if (typeof state !== "object" || state === null) return false;
  const read = new Map(Object.entries(state));
  return Object.entries(record.state).every(([key, value]) => {
    const keptValue = read.get(key);
    return keptValue === value || JSON.stringify(keptValue) === JSON.stringify(value);
  });
}
