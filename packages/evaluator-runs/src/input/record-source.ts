import {
  type CliContext,
  CliError,
  type Environment,
  type Option,
  printable,
  toPrintable,
  truncateCharacters,
} from "evaluator-kit";
import type { JsonObject, Questions } from "evaluator-client";

/** One record of any kind that a run asks about. */
export interface RunRecord<TState = JsonObject> {
  readonly id: string;
  /** The input of the model. */
  readonly state: TState;
  /** Data that a journal keeps beside the state, such as the place of the record; no model reads it. */
  readonly source: JsonObject | null;
}

/** A record of an input, and its index there, from 0. */
export interface InputRecord<TState = JsonObject> {
  readonly index: number;
  readonly record: RunRecord<TState>;
}

/** Typed or kept options of a source that add to the state of a record; its input parses them. */
type StateOptions = Readonly<Record<string, unknown>>;

/** An input with checked records. It is read again for each pass and never held in memory. */
export interface RecordInput<TState = JsonObject> {
  readonly length: number;
  /** The number of invalid records, which are left out. */
  readonly leftOutCount: number;
  /** Returns lines that name the invalid records, if any. */
  describeLeftOut(): string;
  /** Reads the records in order, at most `limit`. @throws CliError if the input has changed. */
  records(limit?: number): AsyncGenerator<InputRecord<TState>>;
  /** Returns the same input with the additions to the states that it was opened with. @default there are none */
  withState?(context: CliContext): Promise<RecordInput>;
}

/** How an input is opened. */
export interface InputOptions {
  /** Whether invalid records are left out instead of ending the run. @default false */
  readonly skipInvalid?: boolean;
  /** The file as typed; `-` is standard input. @default the path */
  readonly file?: string;
  readonly stdin?: CliContext["stdin"];
  /** Records of the file, which a run asks about alone: it prints their rows, and writes no results. @default all */
  readonly part?: readonly unknown[];
  readonly signal?: AbortSignal;
  /** Names a temporary file. @default randomUUID */
  readonly newId?: (() => string) | undefined;
  readonly state?: StateOptions;
  /** The questions of a new run, whose answers no state may hold. */
  readonly questions?: Questions;
}

/** A column of the results that shows a part of the record. */
interface RecordColumn {
  readonly name: string;
  readonly of: (record: RunRecord) => string | null;
}

/** How the printed table shows results. */
export interface TableLayout {
  /** The columns of the default questions, with shorter headings. */
  readonly answers: readonly ShortHeading[];
  /** The result field that the table is sorted by, if there is one. */
  readonly sort: string;
  /** The result field that is sorted by {@link RecordSource.dayOf}. */
  readonly dayField: string;
  /** The columns after the answers, the first before the marks; the last is the widest. */
  readonly record: readonly { readonly name: string; readonly most: number }[];
}

/** A heading of the printed table, and the result field below it. */
interface ShortHeading {
  readonly heading: string;
  readonly field: string;
  readonly isText?: boolean;
}

/** How the records of a program are read, asked about and shown. */
export interface RecordSource {
  /** One record in words, such as "mail". */
  readonly word: string;
  /** The name of the program, for help and messages. */
  readonly program: string;
  /** The part before the ending in the names of results and journals: "triage" in `inbox.triage.json`. */
  readonly suffix: string;
  /** The environment variable with the default of `--journal`. */
  readonly journalVariable: string;
  /** The form of an input, for help. */
  readonly inputForm: string;
  /** Words of `run`, for help. */
  readonly examples: readonly string[];
  /** Additional options of `run`. */
  readonly options: readonly Option[];
  /** Returns the additions of typed options. @throws UsageError if they contradict each other. */
  readState(options: Readonly<Record<string, unknown>>): StateOptions;
  open(path: string, options: InputOptions): Promise<RecordInput>;
  /** Returns the questions of a run that names none; without it each run names its own. */
  questions?(env: Environment): Promise<Questions>;
  /** The columns of the results before the answers, beside `id`. */
  readonly columns: readonly RecordColumn[];
  /** The columns of the queried table before the answers, beside `id`. */
  readonly queryColumns: readonly RecordColumn[];
  /** Null if a run prints no table. */
  readonly table: TableLayout | null;
  /** Returns the day of a record, `YYYY-MM-DD`; without it no option is about days. */
  dayOf?(record: RunRecord): string;
  /** Returns a remark about a record, or an empty text. @default none */
  markOf?(record: RunRecord): string;
  /** Returns state options for a journal; they mean the same on another day. */
  keepStateOptions(options: StateOptions, context: Pick<CliContext, "cwd" | "clock">): JsonObject;
}

/** Returns the name of a record for messages: its index, from 0, its line if it is known, and its id. */
export function recordLabel(index: number, id: string | undefined, lineNumber?: number): string {
  const shownId = id === undefined ? "no id" : `id "${truncateCharacters(toPrintable(id), 60)}"`;
  const linePlace = lineNumber === undefined ? "" : `, line ${lineNumber}`;
  return `record at index ${index}${linePlace} (${shownId})`;
}

/** Returns the error of an input that has changed since the run began. */
export function changedInput(inputPath: string): CliError {
  const problem = printable`${inputPath} has changed since the run began`;
  return new CliError(`${problem}; run the same command again.`);
}

/** Returns items in groups of `size`, the last one shorter. */
export async function* inGroups<TItem>(
  groupedItems: AsyncIterable<TItem> | Iterable<TItem>,
  groupSize: number,
): AsyncGenerator<TItem[]> {
  let itemGroup: TItem[] = [];
  for await (const groupedItem of groupedItems) {
    if (itemGroup.push(groupedItem) < groupSize) continue;
    yield itemGroup;
    itemGroup = [];
  }
  if (itemGroup.length > 0) yield itemGroup;
}
