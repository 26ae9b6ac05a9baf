import { basename } from "node:path";
import type { JsonValue } from "evaluator-client";
import type { RecordInput, RunRecord } from "../input/record-source.ts";
import type { RunBegin, RunFacts, StoredFacts } from "../run-facts.ts";
import type { RunRow } from "../store/run-query.ts";
import type {
  FoundRow,
  NewRecords,
  Progress,
  RunInfo,
  RunSetup,
  StoredRuns,
} from "../store/stored-runs.ts";
import { type FileRun, listRuns, needRun } from "./file-runs.ts";
import type { JournalReader } from "./journal-reader.ts";
import { type CallSetup, isKeyOf, setupHash } from "../journal/kept-answer.ts";

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
  readonly #inputs = new Map<number, Promise<RecordInput>>();
  #runs: readonly FileRun[] | null = null;

  constructor(journal: JournalReader, input: JournalInput) {
    this.#journal = journal;
    this.#input = input;
  }

  async list(): Promise<RunInfo[]> {
    return this.#all.map((_, at) => this.#toInfo(at + 1));
  }

  async get(run: number): Promise<RunInfo> {
    needRun(this.#all, run, this.#journal.path);
    return this.#toInfo(run);
  }

  async *rows(run: number, isOrdered = true): AsyncGenerator<RunRow> {
    // Also for the newest run: one after it may be noting its records.
    const journal = this.#ofRun(run);
    if (!isOrdered) yield* this.#keptRows(journal, run);
    else if (run === this.#all.length) yield* this.#newestRows(journal, run);
    else yield* this.#earlierRows(journal, run);
  }

  /** Reads the rows of the newest run in the order of the input. */
  async *#newestRows(journal: JournalReader, run: number): AsyncGenerator<RunRow> {
    const input = await this.#openInput(run);
    const error = `The ${this.#input.word} has changed since it was asked about; run again.`;
    for await (const { index: idx, record } of input.records(this.#all[run - 1]?.begin?.mails)) {
      const row = journal.row(record.id) ?? unknownRow(record.id);
      const isCurrent =
        row.evaluation === null || isAbout(record, JSON.parse(row.state) as JsonValue);
      yield Object.assign(
        row,
        { idx, input: record },
        isCurrent ? null : { evaluation: null, error },
      );
    }
  }

  /** Reads the rows of an earlier run: those that the input still has in its order, then the others. */
  async *#earlierRows(journal: JournalReader, run: number): AsyncGenerator<RunRow> {
    const ids = new Set<string>();
    for await (const { record } of (await this.#openInput(run)).records()) {
      const row = journal.row(record.id);
      if (row === null) continue;
      const input = row.evaluation === null ? record : undefined;
      yield Object.assign(row, { idx: ids.size, input });
      ids.add(record.id);
    }
    for (const row of journal.rows(this.#setupHash(run))) {
      if (!ids.has(row.id)) yield Object.assign(withState(row), { idx: ids.size });
      ids.add(row.id);
    }
  }

  /** Reads the rows from the journal alone, in no order, in a third of the time. */
  async *#keptRows(journal: JournalReader, run: number): AsyncGenerator<RunRow> {
    // The journal keeps only the id of a record without an answer.
    const open = new Map<string, RunRow>();
    for (const row of journal.rows(this.#setupHash(run))) {
      if (row.evaluation === null) open.set(row.id, row);
      else yield row;
    }
    if (open.size === 0) return;
    for await (const { record } of (await this.#openInput(run)).records()) {
      const row = open.get(record.id);
      if (row === undefined) continue;
      yield Object.assign(row, { input: record });
      open.delete(record.id);
    }
    if (run < this.#all.length) for (const row of open.values()) yield withState(row);
  }

  async find(id: string, run: number | null = null): Promise<FoundRow | null> {
    const journal = run === null ? this.#journal : this.#ofRun(run);
    const row = journal.row(id);
    if (row === null) return null;
    // The run that saw it is the first that was complete afterwards, or the one that was not.
    const all = this.#all;
    const foundAt = all.findIndex((one) => one.row === null || one.row >= row.seen);
    const at = run ?? (foundAt === -1 ? all.length : foundAt + 1);
    const fileRun = all[at - 1];
    if (fileRun === undefined) return null;
    const { evaluation, key } = row;
    const askedCall = journal.askedCall(id);
    // A run with other questions may have been complete since then, about other records.
    const { state, setup } = askedCall ?? { state: row.state, setup: fileRun.setup };
    const call = { state, setup: toRunSetup(setup) };
    const isWhole = evaluation !== null && isKeyOf(key, call.setup.hash, call.state);
    const isChanged = row.isChanged || (evaluation !== null && !isWhole);
    const wholeEvaluation = isWhole ? evaluation : null;
    return { ...row, ...call, isChanged, evaluation: wholeEvaluation, run: at };
  }

  async newIds({ run }: Pick<RunInfo, "run">): Promise<NewRecords | null> {
    return this.#ofRun(run).newRecords();
  }

  async away(): Promise<ReadonlyMap<string, string>> {
    return this.#journal.putAway();
  }

  /** Returns the answer of each record of a run that has one, or the newest answer of each record of all runs. */
  answered(run: number | null): ReturnType<JournalReader["answered"]> {
    return (run === null ? this.#journal : this.#ofRun(run)).answered();
  }

  async progress(): Promise<Progress> {
    return this.#journal.progress();
  }

  async workers(): Promise<[]> {
    return [];
  }

  #ofRun(run: number): JournalReader {
    return this.#journal.ofRun(run, this.#all);
  }

  #openInput(run: number): Promise<RecordInput> {
    const inputPromise =
      this.#inputs.get(run) ?? this.#input.open(this.#all[run - 1]?.begin?.options);
    this.#inputs.set(run, inputPromise);
    return inputPromise;
  }

  #setupHash(run: number): string {
    const { setup } = this.#all[run - 1] ?? {};
    return setup === undefined ? "" : setupHash(setup);
  }

  #toInfo(run: number): RunInfo {
    const { begin, setup, facts } = this.#all[run - 1] as FileRun;
    const input = begin?.options["input"];
    const { calibration } = this.#all.findLast((one) => one.facts !== null)?.facts ?? {};
    const stored: StoredFacts =
      facts === null
        ? { ...begin, ...(calibration && { calibration }) }
        : { ...begin, ...facts, complete: facts };
    return {
      run,
      name: basename(typeof input === "string" ? input : this.#input.path),
      digest: "",
      facts: JSON.stringify(stored),
      setup: toRunSetup(setup),
      stoppedBy: null,
      maxCostUsd: null,
      uncountedUsd: 0,
      ...(facts === null ? this.#openCounts(run) : listCounts(facts)),
    };
  }

  #openCounts(run: number) {
    const { answered: answeredCount, failed: failedCount } = this.#ofRun(run).counts();
    const before = this.#all[run - 2]?.row ?? 0;
    return {
      state: "open" as const,
      records: this.#all[run - 1]?.begin?.mails ?? 0,
      answered: answeredCount,
      asked: 0,
      failed: failedCount,
      inputTokens: 0,
      costUsd: this.#journal.spentUsdSince(before),
      createdAt: new Date(0),
      finishedAt: null,
    };
  }

  get #all(): readonly FileRun[] {
    return (this.#runs ??= listRuns(this.#journal));
  }
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

/** Returns a row whose state is an object, also if nothing of it is known. */
function withState(row: RunRow): RunRow {
  return row.evaluation === null ? Object.assign(row, { state: "{}" }) : row;
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
