import { CalibrationInputError, listNames, type SourceLocation, quote } from "./input-error.ts";

/** What kind of question was answered. */
export type QuestionKind = "boolean" | "choice" | "score";

/** What the answers rest on: a model, or a stand-in of the emulator. */
export type Basis = "model" | "recorded" | "rule" | "lexical";

/** Who answered. Answers of two sources are never mixed. */
export interface AnswerSource {
  readonly modelId: string | null;
  readonly wire: string | null;
  readonly basis: Basis;
  readonly questionHash: string | null;
}

/** One answer about one record. */
export interface RecordAnswer {
  /** All names the record goes by. */
  readonly ids: readonly string[];
  readonly question: string;
  readonly kind: QuestionKind;
  /** Options, or level indexes as text; `["no", "yes"]` of a boolean. */
  readonly options: readonly string[];
  /** The probability of yes, or one for each option. */
  readonly values: readonly number[];
  readonly source: AnswerSource;
}

/** Numbers in a typed array that grows. */
class GrowingNumbers {
  #values = new Float64Array(1024);
  #length = 0;

  push(values: readonly number[]): void {
    this.#reserve(this.#length + values.length);
    for (const value of values) this.#values[this.#length++] = value;
  }

  set(at: number, values: readonly number[]): void {
    this.#values.set(values, at);
  }

  get all(): Float64Array {
    return this.#values.subarray(0, this.#length);
  }

  #reserve(length: number): void {
    if (length <= this.#values.length) return;
    const larger = new Float64Array(Math.max(length, 2 * this.#values.length));
    larger.set(this.#values);
    this.#values = larger;
  }
}

/** The answers of one source to one question: ids, and their probabilities in one typed array. */
export class AnswerColumn {
  readonly question: string;
  readonly kind: QuestionKind;
  readonly options: readonly string[];
  readonly source: AnswerSource;
  /** The first name of each row. */
  readonly ids: string[] = [];
  readonly #rows = new Map<string, number>();
  #latestRow = -1;
  readonly #numbers = new GrowingNumbers();
  /** Rows that came again and replaced the earlier answer. */
  replaced = 0;

  constructor({ question, kind, options, source }: RecordAnswer) {
    this.question = question;
    this.kind = kind;
    this.options = options;
    this.source = source;
  }

  /** How many probabilities a row has. */
  get width(): number {
    return this.kind === "boolean" ? 1 : this.options.length;
  }

  /** Row by row. */
  get values(): Float64Array {
    return this.#numbers.all;
  }

  /** Returns the row of a record, or undefined. */
  rowOf(id: string): number | undefined {
    // Labels mostly come in the order of the answers; a million looks into the map cost a second.
    const next = this.#latestRow + 1;
    const row = this.ids[next] === id ? next : this.#rows.get(id);
    if (row !== undefined) this.#latestRow = row;
    return row;
  }

  /** Adds a row; returns false, and adds nothing, where the record has one and the last is not to count. */
  add({ ids, values }: RecordAnswer, { last = false }: { last?: boolean } = {}): boolean {
    const row = this.#knownOrAdded(ids);
    if (row !== undefined) {
      if (!last) return false;
      this.replaced += 1;
      this.#numbers.set(row * this.width, values);
      return true;
    }
    this.ids.push(ids[0] ?? "");
    this.#numbers.push(values);
    return true;
  }

  /** Returns the row that goes by one of the names; where none does, the next row will. */
  #knownOrAdded(ids: readonly string[]): number | undefined {
    for (const id of ids) {
      const row = this.#rows.get(id);
      if (row !== undefined) return row;
    }
    for (const id of ids) this.#rows.set(id, this.ids.length);
    return undefined;
  }
}

/** How answers are collected. */
export interface AnswerTableOptions {
  /** Takes the last of several answers about one record; without it they are an error. @default false */
  readonly last?: boolean | undefined;
  /** Takes only these questions. */
  readonly questions?: readonly string[] | undefined;
  /** The field of a record whose value names its cluster, such as its thread. */
  readonly onePer?: string | undefined;
}

/** All answers of a run, by source and question. */
export class AnswerTable {
  readonly #options: AnswerTableOptions;
  readonly #columns = new Map<string, AnswerColumn>();
  readonly #failed = new Set<string>();
  /** What was left out, and why: one line each. */
  readonly notes = new Set<string>();
  #latest: AnswerColumn | null = null;
  /** The first and the last day among the records, as far as they name one. */
  readonly days: { from: string | null; to: string | null } = { from: null, to: null };

  constructor(options: AnswerTableOptions = {}) {
    this.#options = options;
  }

  /** In the order their first answer came. */
  get columns(): AnswerColumn[] {
    return [...this.#columns.values()];
  }

  /** The questions that were answered. */
  get questions(): string[] {
    return [...new Set(this.columns.map(({ question }) => question))];
  }

  /** Notes a record that is known and has no answer, such as one whose call failed. */
  addFailed(id: string): void {
    this.#failed.add(id);
  }

  /** The cluster of each record that names one. */
  readonly clusters = new Map<string, string>();

  /** Notes the cluster of a record, by its fields or those of its state. */
  noteCluster(id: unknown, fields: object): void {
    const { onePer } = this.#options;
    if (onePer === undefined || !Object.hasOwn(fields, onePer)) return;
    const value = (fields as Readonly<Record<string, unknown>>)[onePer];
    if (typeof value === "string" || typeof value === "number") {
      this.clusters.set(String(id), String(value));
    }
  }

  /** Notes the day (YYYY-MM-DD, more may follow) of a record, where it has one. */
  noteDate(date: unknown): void {
    if (typeof date !== "string" || !/^\d{4}-\d\d-\d\d/.test(date)) return;
    const day = date.slice(0, 10);
    if (this.days.from === null || day < this.days.from) this.days.from = day;
    if (this.days.to === null || day > this.days.to) this.days.to = day;
  }

  /** Returns whether any question of a record was answered, or its call is known to have failed. */
  knows(id: string): boolean {
    return this.#failed.has(id) || this.columns.some((column) => column.rowOf(id) !== undefined);
  }

  /** @throws CalibrationInputError where the answer is unsound, or the record has one already. */
  add(answer: RecordAnswer, location: SourceLocation): void {
    const { questions, last = false } = this.#options;
    if (questions !== undefined && !questions.includes(answer.question)) return;
    checkValues(answer, location);
    const column = this.#columnOf(answer, location);
    if (column.add(inOrderOf(column, answer), { last })) return;
    const record = `record ${quote(answer.ids[0])} has a second answer to ${quote(answer.question)}`;
    throw new CalibrationInputError(location, `${record}; --last takes the last of several`);
  }

  #columnOf(answer: RecordAnswer, location: SourceLocation): AnswerColumn {
    // A file's rows are mostly of one source and question: its name is then not built again.
    if (this.#latest !== null && isOf(this.#latest, answer)) return this.#latest;
    const { modelId, wire, basis, questionHash } = answer.source;
    const key = JSON.stringify([modelId, wire, basis, questionHash, answer.question]);
    let column = this.#columns.get(key);
    if (column === undefined) this.#columns.set(key, (column = new AnswerColumn(answer)));
    this.#latest = column;
    if (isOf(column, answer)) return column;
    const problem = `question ${quote(answer.question)} has the options ${listNames(answer.options)}`;
    throw new CalibrationInputError(
      location,
      `${problem}; in the rows before they are ${listNames(column.options)}`,
    );
  }
}

function isOf({ question, kind, options, source }: AnswerColumn, answer: RecordAnswer): boolean {
  return (
    question === answer.question &&
    kind === answer.kind &&
    isSameSource(source, answer.source) &&
    options.length === answer.options.length &&
    (hasSameOrder(options, answer.options) ||
      options.every((option) => answer.options.includes(option)))
  );
}

function hasSameOrder(options: readonly string[], others: readonly string[]): boolean {
  return options === others || options.every((option, i) => option === others[i]);
}

/** The same answer with its probabilities in the order of the column's options. */
function inOrderOf({ options }: AnswerColumn, answer: RecordAnswer): RecordAnswer {
  if (hasSameOrder(options, answer.options)) return answer;
  const values = options.map((option) => answer.values[answer.options.indexOf(option)] as number);
  return { ...answer, options, values };
}

function isSameSource(one: AnswerSource, other: AnswerSource): boolean {
  return (
    one === other ||
    (one.modelId === other.modelId &&
      one.wire === other.wire &&
      one.basis === other.basis &&
      one.questionHash === other.questionHash)
  );
}

function checkValues(
  { kind, options, values, question }: RecordAnswer,
  location: SourceLocation,
): void {
  let sum = 0;
  for (const [i, value] of values.entries()) {
    sum += value;
    if (typeof value === "number" && value >= 0 && value <= 1) continue;
    const field = kind === "boolean" ? "probability" : `probabilities.${options[i] ?? i}`;
    const problem = `${field} of ${quote(question)} is ${quote(value)}; it must be a number from 0 to 1`;
    throw new CalibrationInputError(location, problem);
  }
  if (kind === "boolean") return;
  // Each option is rounded by up to half a hundredth.
  if (Math.abs(sum - 1) <= values.length * 0.005 + 1e-6) return;
  const problem = `probabilities of ${quote(question)} sum up to ${sum.toFixed(3)}; they must sum up to 1`;
  throw new CalibrationInputError(location, problem);
}
