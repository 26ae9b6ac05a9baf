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
export interface RunRecord {
  readonly id: string;
  /** What the model reads. */
  readonly state: JsonObject;
  /** What a journal keeps beside the state, such as where the record is; no model reads it. */
  readonly source: JsonObject | null;
}

/** A record of an input, and its index there, from 0. */
export interface InputRecord {
  readonly index: number;
  readonly record: RunRecord;
}

/** What a source adds to the state of a record, as typed or as a journal keeps it; its input parses them. */
export type StateOptions = Readonly<Record<string, unknown>>;

/** An input whose records were checked. It is read again for each pass and never held in memory. */
export interface RecordInput {
  readonly length: number;
  /** How many invalid records are left out. */
  readonly leftOutCount: number;
  /** Returns lines that name the invalid records; empty without any. */
  describeLeftOut(): string;
  /**
   * Reads the records in order, at most `limit`.
   *
   * @throws CliError if the input has changed since it was opened.
   */
  records(limit?: number): AsyncGenerator<InputRecord>;
  /** Returns the same input with the states that the options ask for. */
  withState(options: StateOptions, context: CliContext): Promise<RecordInput>;
  /** Returns what counts the cost of everything that states may have more; null for nothing. */
  additions(tokensOf: (state: JsonObject) => number): AdditionCosts | null;
}

/** Counts what additions to the state cost. */
export interface AdditionCosts {
  add(record: RunRecord): void;
  /** @param inputUsdPerMillionTokens - Null if the price is not known. */
  describe(inputUsdPerMillionTokens: number | null): string;
}

/** How an input is opened. */
export interface InputOptions {
  /** Whether invalid records are left out instead of ending the run. @default false */
  readonly skipInvalid?: boolean;
  /** The file as typed; `-` is standard input. @default the path */
  readonly file?: string;
  readonly stdin?: CliContext["stdin"];
  readonly signal?: AbortSignal;
  readonly state?: StateOptions;
}

/** A column of the results that shows a part of the record. */
export interface RecordColumn {
  readonly name: string;
  readonly of: (record: RunRecord) => string;
}

/** A column of the queried table of records. */
interface QueryColumn {
  readonly name: string;
  readonly what: string;
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
  /** From which value on a cell of a field is coloured. */
  readonly colours: Readonly<
    Record<string, { readonly from: number; readonly colour: "red" | "yellow" }>
  >;
}

/** A heading of the printed table, and the result field below it. */
export interface ShortHeading {
  readonly heading: string;
  readonly field: string;
  readonly isText?: boolean;
}

/** What a program gives to runs: how its records are read, asked about and shown. */
export interface RecordSource {
  /** One record in words, such as "mail". */
  readonly word: string;
  /** How the program is typed, for help and messages. */
  readonly program: string;
  /** The form of an input, for help. */
  readonly inputForm: string;
  /** Words of `run`, for help. */
  readonly examples: readonly string[];
  /** The options that `run` has more. */
  readonly options: readonly Option[];
  /**
   * Returns what typed options add to the state.
   *
   * @throws UsageError if they contradict each other.
   */
  readState(options: Readonly<Record<string, unknown>>): StateOptions;
  open(path: string, options: InputOptions): Promise<RecordInput>;
  /** Returns the questions of a run that names none. */
  questions(env: Environment): Promise<Questions>;
  /** The columns of the results before the answers, beside `id`. */
  readonly columns: readonly RecordColumn[];
  /** The columns of the queried table before the answers, beside `id`. */
  readonly queryColumns: readonly QueryColumn[];
  readonly table: TableLayout;
  /** Returns the day of a record, `YYYY-MM-DD`. */
  dayOf(record: RunRecord): string;
  /** Returns what is remarkable about a record, in words; else an empty text. */
  markOf(record: RunRecord): string;
  /** Whether a state has more than that of the record alone. */
  hasAdditions(state: JsonObject): boolean;
  /** Returns state options as a journal keeps them, such that they mean the same on another day. */
  keepStateOptions(options: StateOptions, context: Pick<CliContext, "cwd" | "clock">): JsonObject;
}

/** Returns the name of a record for messages: its index (from 0) and its id, and nothing else of it. */
export function recordLabel(index: number, id: string | undefined): string {
  const shown = id === undefined ? "no id" : `id "${truncateCharacters(toPrintable(id), 60)}"`;
  return `record at index ${index} (${shown})`;
}

/** Returns the error of an input that is no longer what it was when the run began. */
export function changedInput(path: string): CliError {
  const problem = printable`${path} has changed since the run began`;
  return new CliError(`${problem}; run the same command again.`);
}
