import { type Form, toForm, type QuestionKind } from "../kinds.ts";
import type { AnswerSource } from "./answer-source.ts";
import {
  CalibrationInputError,
  listNames,
  quote,
  rejectField,
  type SourceLocation,
  truthText,
  yesOrNo,
} from "./input-record.ts";

/** One answer about one record. */
export interface RecordAnswer {
  /** All names of the record. */
  readonly ids: readonly string[];
  readonly question: string;
  readonly kind: QuestionKind;
  /** Options, or level indexes as text; `["no", "yes"]` for the probability of yes. */
  readonly options: readonly string[];
  /** The probability of yes, or one for each option. */
  readonly values: readonly number[];
  readonly source: AnswerSource;
  /** The hash of the record, if a journal keeps it. */
  readonly state?: string | undefined;
}

/** How the values and truths of a form are read, and named in messages. */
const forms: Record<
  Form,
  {
    readonly width: (options: number) => number;
    readonly field: (option: string) => string;
    /** How far a sum may be from 1; each option is rounded by up to half a hundredth. */
    readonly rounding: (options: number) => number;
    readonly truth: (truth: unknown, options: readonly string[]) => number;
    readonly truths: (column: AnswerColumn) => string;
  }
> = {
  probability: {
    width: () => 1,
    field: () => "probability",
    rounding: () => Infinity,
    truth: yesOrNo,
    truths: () => "true or false, 1 or 0, yes or no",
  },
  distribution: {
    width: (options) => options,
    field: (option) => `probabilities.${option}`,
    rounding: (options) => options * 0.005 + 1e-6,
    truth: (truth, options) => {
      const at = options.indexOf(String(truth));
      return at < 0 ? options.indexOf(truthText(truth)) : at;
    },
    truths: ({ isOrdered, options }) =>
      isOrdered ? `a level from 0 to ${options.length - 1}` : `one of ${listNames(options)}`,
  },
};

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
  /** The hash of each row's record; undefined if it is not known. */
  readonly states: (string | undefined)[] = [];
  readonly #rows = new Map<string, number>();
  #latestRow = -1;
  readonly #numbers: number[] = [];
  #values: Float64Array | null = null;

  constructor({ question, kind, options, source }: RecordAnswer) {
    const { form, isOrdered } = toForm(kind);
    this.question = question;
    this.kind = kind;
    this.form = form;
    this.isOrdered = isOrdered;
    this.options = options;
    this.source = source;
    this.width = forms[form].width(options.length);
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

  /**
   * Adds a row, or with `last` replaces the record's row; returns false if the record has a row.
   *
   * @throws CalibrationInputError if a value is invalid, or the options are not those of the column.
   */
  add(answer: RecordAnswer, location: SourceLocation, last: boolean): boolean {
    this.#check(answer, location);
    const { ids, options, values, state } = answer;
    let ownRow: number | undefined;
    for (const id of ids) ownRow ??= this.#rows.get(id);
    if (ownRow !== undefined && !last) return false;
    this.#values = null;
    const row = ownRow ?? this.ids.length;
    if (ownRow === undefined) {
      for (const id of ids) this.#rows.set(id, row);
      this.ids.push(ids[0] ?? "");
    }
    this.states[row] = state;
    for (let at = 0; at < values.length; at += 1) {
      // The options of a record may be in another order.
      const isHere = options[at] === this.options[at];
      const to = isHere ? at : this.options.indexOf(options[at] as string);
      this.#numbers[row * this.width + to] = values[at] as number;
    }
    return true;
  }

  #check({ kind, options, values }: RecordAnswer, location: SourceLocation): void {
    const { field, rounding } = forms[toForm(kind).form];
    let sum = 0;
    for (let i = 0; i < values.length; i += 1) {
      const value = values[i] as number;
      sum += value;
      if (typeof value === "number" && value >= 0 && value <= 1) continue;
      const name = `${field(options[i] as string)} of ${quote(this.question)}`;
      rejectField(location, [name, value], "a number from 0 to 1");
    }
    if (Math.abs(sum - 1) > rounding(values.length)) {
      const name = `the sum of the probabilities of ${quote(this.question)}`;
      rejectField(location, [name, Number(sum.toFixed(3))], "1");
    }
    const isSame =
      kind === this.kind &&
      (options === this.options ||
        (options.length === this.options.length &&
          options.every(
            (option, i) => option === this.options[i] || this.options.includes(option),
          )));
    if (isSame) return;
    const problem = `question ${quote(this.question)} has the options ${listNames(options)}`;
    const before = `in earlier rows ${listNames(this.options)}`;
    throw new CalibrationInputError(location, `${problem}, and ${before}`);
  }

  /** Returns the truth of a row as the index of its option. @throws CalibrationInputError that lists the valid ones. */
  truthOf(truth: unknown, location: SourceLocation, _row?: number): number {
    const form = forms[this.form];
    const index = form.truth(truth, this.options);
    if (index >= 0) return index;
    return rejectField(location, [`truth of ${quote(this.question)}`, truth], form.truths(this));
  }
}
