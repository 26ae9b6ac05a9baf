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

  constructor(journalReader: JournalReader, journalInput: JournalInput) {
    this.#journal = journalReader;
    this.#input = journalInput;
  }

  async list(): Promise<RunInfo[]> {
    return this.#all.map((_, runIndex) => this.#toInfo(runIndex + 1));
  }

  async get(runNumber: number): Promise<RunInfo> {
    needRun(this.#all, runNumber, this.#journal.path);
    return this.#toInfo(runNumber);
  }

  async *rows(runNumber: number, isOrdered = true): AsyncGenerator<RunRow> {
    // Also for the newest run: one after it may be noting its records.
    const runReader = this.#ofRun(runNumber);
    if (!isOrdered) yield* this.#keptRows(runReader, runNumber);
    else if (runNumber === this.#all.length) yield* this.#newestRows(runReader, runNumber);
    else yield* this.#earlierRows(runReader, runNumber);
  }

  /** Reads the rows of the newest run in the order of the input. */
  async *#newestRows(runReader: JournalReader, run: number): AsyncGenerator<RunRow> {
    const input = await this.#openInput(run);
    const error = `The ${this.#input.word} has changed since it was asked about; run again.`;
    for await (const { index: idx, record } of input.records(this.#all[run - 1]?.begin?.mails)) {
      const recordRow = runReader.row(record.id) ?? unknownRow(record.id);
      const isCurrent =
        recordRow.evaluation === null || isAbout(record, JSON.parse(recordRow.state) as JsonValue);
      yield Object.assign(
        recordRow,
        { idx, input: record },
        isCurrent ? null : { evaluation: null, error },
      );
    }
  }

  /** Reads the rows of an earlier run: those that the input still has in its order, then the others. */
  async *#earlierRows(runReader: JournalReader, runNumber: number): AsyncGenerator<RunRow> {
    const givenIds = new Set<string>();
    for await (const { record } of (await this.#openInput(runNumber)).records()) {
      const recordRow = runReader.row(record.id);
      if (recordRow === null) continue;
      const input = recordRow.evaluation === null ? record : undefined;
      yield Object.assign(recordRow, { idx: givenIds.size, input });
      givenIds.add(record.id);
    }
    for (const row of runReader.rows(this.#setupHash(runNumber))) {
      if (!givenIds.has(row.id)) yield Object.assign(withState(row), { idx: givenIds.size });
      givenIds.add(row.id);
    }
  }

  /** Reads the rows from the journal alone, in no order, in a third of the time. */
  async *#keptRows(runReader: JournalReader, runNumber: number): AsyncGenerator<RunRow> {
    // The journal keeps only the id of a record without an answer.
    const openRows = new Map<string, RunRow>();
    for (const recordRow of runReader.rows(this.#setupHash(runNumber))) {
      if (recordRow.evaluation === null) openRows.set(recordRow.id, recordRow);
      else yield recordRow;
    }
    if (openRows.size === 0) return;
    for await (const { record } of (await this.#openInput(runNumber)).records()) {
      const openRow = openRows.get(record.id);
      if (openRow === undefined) continue;
      yield Object.assign(openRow, { input: record });
      openRows.delete(record.id);
    }
    if (runNumber < this.#all.length) for (const row of openRows.values()) yield withState(row);
  }

  async find(recordId: string, runNumber: number | null = null): Promise<FoundRow | null> {
    const runReader = runNumber === null ? this.#journal : this.#ofRun(runNumber);
    const recordRow = runReader.row(recordId);
    if (recordRow === null) return null;
    // The run that saw it is the first that was complete afterwards, or the one that was not.
    const fileRuns = this.#all;
    const foundAt = fileRuns.findIndex((one) => one.row === null || one.row >= recordRow.seen);
    const foundRun = runNumber ?? (foundAt === -1 ? fileRuns.length : foundAt + 1);
    const fileRun = fileRuns[foundRun - 1];
    if (fileRun === undefined) return null;
    const { evaluation, key } = recordRow;
    const askedCall = runReader.askedCall(recordId);
    // A run with other questions may have been complete since then, about other records.
    const { state, setup } = askedCall ?? { state: recordRow.state, setup: fileRun.setup };
    const foundCall = { state, setup: toRunSetup(setup) };
    const isWhole = evaluation !== null && isKeyOf(key, foundCall.setup.hash, foundCall.state);
    const isChanged = recordRow.isChanged || (evaluation !== null && !isWhole);
    const wholeEvaluation = isWhole ? evaluation : null;
    return { ...recordRow, ...foundCall, isChanged, evaluation: wholeEvaluation, run: foundRun };
  }

  async newIds({ run }: Pick<RunInfo, "run">): Promise<NewRecords | null> {
    return this.#ofRun(run).newRecords();
  }

  async away(): Promise<ReadonlyMap<string, string>> {
    return this.#journal.putAway();
  }

  /** Returns the answer of each record of a run that has one, or the newest answer of each record of all runs. */
  answered(runNumber: number | null): ReturnType<JournalReader["answered"]> {
    return (runNumber === null ? this.#journal : this.#ofRun(runNumber)).answered();
  }

  async progress(): Promise<Progress> {
    return this.#journal.progress();
  }

  async workers(): Promise<[]> {
    return [];
  }

  #ofRun(runNumber: number): JournalReader {
    return this.#journal.ofRun(runNumber, this.#all);
  }

  #openInput(runNumber: number): Promise<RecordInput> {
    const inputPromise =
      this.#inputs.get(runNumber) ?? this.#input.open(this.#all[runNumber - 1]?.begin?.options);
    this.#inputs.set(runNumber, inputPromise);
    return inputPromise;
  }

  #setupHash(runNumber: number): string {
    const { setup } = this.#all[runNumber - 1] ?? {};
    return setup === undefined ? "" : setupHash(setup);
  }

  #toInfo(run: number): RunInfo {
    const { begin, setup, facts } = this.#all[run - 1] as FileRun;
    const inputName = begin?.options["input"];
    const { calibration } = this.#all.findLast((fileRun) => fileRun.facts !== null)?.facts ?? {};
    const storedFacts: StoredFacts =
      facts === null
        ? { ...begin, ...(calibration && { calibration }) }
        : { ...begin, ...facts, complete: facts };
    return {
      run,
      name: basename(typeof inputName === "string" ? inputName : this.#input.path),
      digest: "",
      facts: JSON.stringify(storedFacts),
      setup: toRunSetup(setup),
      stoppedBy: null,
      maxCostUsd: null,
      uncountedUsd: 0,
      ...(facts === null ? this.#openCounts(run) : listCounts(facts)),
    };
  }

  #openCounts(runNumber: number) {
    const { answered: answeredCount, failed: failedCount } = this.#ofRun(runNumber).counts();
    const earlierRow = this.#all[runNumber - 2]?.row ?? 0;
    return {
      state: "open" as const,
      records: this.#all[runNumber - 1]?.begin?.mails ?? 0,
      answered: answeredCount,
      asked: 0,
      failed: failedCount,
      inputTokens: 0,
      costUsd: this.#journal.spentUsdSince(earlierRow),
      createdAt: new Date(0),
      finishedAt: null,
    };
  }

  get #all(): readonly FileRun[] {
    return (this.#runs ??= listRuns(this.#journal));
  }
}

function listCounts(runFacts: RunFacts) {
  const {
    mails: records,
    answered: askedCount,
    failed: failedCount,
    inputTokens,
    costUsd,
    isUnpriced,
  } = runFacts;
  const finishedAt = new Date(runFacts.finishedAt);
  return {
    state: "done" as const,
    records,
    asked: askedCount,
    answered: records - failedCount,
    failed: failedCount,
    inputTokens,
    costUsd: isUnpriced === true ? null : costUsd,
    createdAt: new Date(finishedAt.getTime() - runFacts.elapsedMs),
    finishedAt,
  };
}

/** Returns a row whose state is an object, also if nothing of it is known. */
function withState(recordRow: RunRow): RunRow {
  return recordRow.evaluation === null ? Object.assign(recordRow, { state: "{}" }) : recordRow;
}

function toRunSetup({ questions, service }: CallSetup): RunSetup {
  const { address: wire, modelId } = service;
  const hash = setupHash({ questions, service });
  return { hash, wire, modelId, questions: JSON.stringify(questions) };
}

function unknownRow(id: string): RunRow {
  const emptyFields = { note: null, evaluation: null, error: null };
  return { idx: 0, id, key: "", state: "null", ...emptyFields, isChanged: false, isOwn: false };
}

// A state has more than these keys if a run added some.
function isAbout(record: RunRecord, keptState: JsonValue): boolean {
  if (typeof keptState !== "object" || keptState === null) return false;
  const keptFields = new Map(Object.entries(keptState));
  return Object.entries(record.state).every(([fieldName, fieldValue]) => {
    const keptValue = keptFields.get(fieldName);
    return keptValue === fieldValue || JSON.stringify(keptValue) === JSON.stringify(fieldValue);
  });
}
