import {
  type AskedQuestions,
  type Form,
  formOf,
  type QuestionKind,
  questionHash,
} from "../kinds.ts";
import {
  CalibrationInputError,
  type Fields,
  type InputRecord,
  isObject,
  listNames,
  quote,
  type SourceLocation,
} from "./input-record.ts";
import {
  addAnswers,
  type AnswerSource,
  basisOf,
  readAnswerRecord,
  type RecordAnswer,
} from "./read-answers.ts";

/** The answers of one source to one question: ids, and their probabilities in one typed array. */
export class AnswerColumn {
  readonly question: string;
  readonly kind: QuestionKind;
  readonly form: Form;
  /** Whether the options are levels. */
  readonly isOrdered: boolean;
  readonly options: readonly string[];
  readonly source: AnswerSource;
  /** How many probabilities a row has. */
  readonly width: number;
  /** The first name of each row. */
  readonly ids: string[] = [];
  readonly #rows = new Map<string, number>();
  #latestRow = -1;
  readonly #numbers: number[] = [];
  #values: Float64Array | null = null;

  constructor({ question, kind, options, source }: RecordAnswer) {
    const { form, isOrdered } = formOf(kind);
    this.question = question;
    this.kind = kind;
    this.form = form;
    this.isOrdered = isOrdered;
    this.options = options;
    this.source = source;
    this.width = { probability: 1, distribution: options.length }[form];
  }

  /** Row by row. */
  get values(): Float64Array {
    return (this.#values ??= new Float64Array(this.#numbers));
  }

  /** Returns the row of a record, or undefined. */
  rowOf(id: string): number | undefined {
    // Labels are mostly in the order of the answers; a million map lookups cost a second.
    const next = this.#latestRow + 1;
    const row = this.ids[next] === id ? next : this.#rows.get(id);
    if (row !== undefined) this.#latestRow = row;
    return row;
  }

  /** Adds a row, or with `last` replaces the record's row; returns false if the record has a row. */
  add({ ids, values }: RecordAnswer, last: boolean): boolean {
    let known: number | undefined;
    for (const id of ids) known ??= this.#rows.get(id);
    if (known !== undefined && !last) return false;
    this.#values = null;
    if (known !== undefined) {
      const from = known * this.width;
      for (const [at, value] of values.entries()) this.#numbers[from + at] = value;
      return true;
    }
    for (const id of ids) this.#rows.set(id, this.ids.length);
    this.ids.push(ids[0] ?? "");
    for (const value of values) this.#numbers.push(value);
    return true;
  }
}

/** An evaluation that a journal holds, and the questions that were asked. */
export interface KeptAnswers {
  readonly id: string;
  readonly questions: AskedQuestions;
  readonly wire: string;
  readonly evaluation: {
    readonly answers: Fields;
    readonly modelId: string | null;
  };
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
  readonly #sources = new Map<string, AnswerSource>();
  readonly #hashes = new WeakMap<AskedQuestions, string>();
  #latest: AnswerColumn | null = null;
  /** Data that was ignored, and the reason: one line each. */
  readonly notes = new Set<string>();
  /** The cluster of each record that names one. */
  readonly clusters = new Map<string, string>();
  /** The first and the last day of the records that have a date. */
  readonly days: { from: string | null; to: string | null } = { from: null, to: null };

  constructor(options: AnswerTableOptions = {}) {
    this.#options = options;
  }

  /** In the order of their first answers. */
  get columns(): AnswerColumn[] {
    return [...this.#columns.values()];
  }

  /** The questions that were answered. */
  get questions(): string[] {
    return [...new Set(this.columns.map(({ question }) => question))];
  }

  /** Adds one record of a file of answers: a router's decision, a line of NDJSON, or a triage result. */
  addRecord(record: InputRecord, file: string): void {
    const { value } = record;
    if (isObject(value)) this.noteCluster(value["id"] ?? value["requestId"], value);
    readAnswerRecord(record, file, this);
  }

  /** Adds an evaluation of a journal. */
  addEvaluation(
    { id, questions, wire, evaluation: { answers, modelId } }: KeptAnswers,
    location: SourceLocation,
  ): void {
    let asked = this.#hashes.get(questions);
    if (asked === undefined) this.#hashes.set(questions, (asked = questionHash(questions)));
    const key = JSON.stringify([modelId, wire, asked]);
    let source = this.#sources.get(key);
    if (source === undefined) {
      source = { modelId, wire, basis: basisOf(modelId, wire), questionHash: asked };
      this.#sources.set(key, source);
    }
    addAnswers({ ids: [id], answers, source }, { sink: this, location });
  }

  /** Notes a record that is known and has no answer, such as one whose call failed. */
  addFailed(id: string): void {
    this.#failed.add(id);
  }

  /** Notes the cluster of a record, by its fields or those of its state. */
  noteCluster(id: unknown, fields: object): void {
    const { onePer } = this.#options;
    if (onePer === undefined || !Object.hasOwn(fields, onePer)) return;
    const value = (fields as Fields)[onePer];
    if (typeof value === "string" || typeof value === "number") {
      this.clusters.set(String(id), String(value));
    }
  }

  /** Notes the day of a record, if it has one: YYYY-MM-DD, more may follow. */
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

  /** @throws CalibrationInputError if the answer is invalid, or the record has one already. */
  add(answer: RecordAnswer, location: SourceLocation): void {
    const { questions, last = false } = this.#options;
    if (questions !== undefined && !questions.includes(answer.question)) return;
    checkValues(answer, location);
    const column = this.#columnOf(answer, location);
    if (column.add(inOrderOf(column, answer), last)) return;
    const record = `record ${quote(answer.ids[0])} has a second answer to ${quote(answer.question)}`;
    throw new CalibrationInputError(location, `${record}; --last takes the last of several`);
  }

  #columnOf(answer: RecordAnswer, location: SourceLocation): AnswerColumn {
    // The rows of a file mostly have one source and question: the key is then not built again.
    if (this.#latest !== null && isOf(this.#latest, answer)) return this.#latest;
    const { modelId, wire, basis, questionHash: asked } = answer.source;
    const key = JSON.stringify([modelId, wire, basis, asked, answer.question]);
    let column = this.#columns.get(key);
    if (column === undefined) this.#columns.set(key, (column = new AnswerColumn(answer)));
    this.#latest = column;
    if (isOf(column, answer)) return column;
    const problem = `question ${quote(answer.question)} has the options ${listNames(answer.options)}`;
    const before = `in the rows before they are ${listNames(column.options)}`;
    throw new CalibrationInputError(location, `${problem}; ${before}`);
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

const fieldOf: Record<Form, (option: string) => string> = {
  probability: () => "probability",
  distribution: (option) => `probabilities.${option}`,
};
// Each option is rounded by up to half a hundredth.
const roundingOf: Record<Form, (options: number) => number> = {
  probability: () => Infinity,
  distribution: (options) => options * 0.005 + 1e-6,
};

function checkValues({ kind, options, values, question }: RecordAnswer, location: SourceLocation) {
  const { form } = formOf(kind);
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number;
    sum += value;
    if (typeof value === "number" && value >= 0 && value <= 1) continue;
    const field = fieldOf[form](options[i] ?? String(i));
    const problem = `${field} of ${quote(question)} is ${quote(value)}; it must be a number from 0 to 1`;
    throw new CalibrationInputError(location, problem);
  }
  if (Math.abs(sum - 1) <= roundingOf[form](values.length)) return;
  const problem = `probabilities of ${quote(question)} sum up to ${sum.toFixed(3)}; they must sum up to 1`;
  throw new CalibrationInputError(location, problem);
}
