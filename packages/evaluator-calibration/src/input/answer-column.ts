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
const formFields: Record<
  Form,
  {
    readonly valueCount: (optionCount: number) => number;
    readonly fieldName: (optionName: string) => string;
    /** How far a sum may be from 1; each option is rounded by up to half a hundredth. */
    readonly rounding: (optionCount: number) => number;
    readonly truthIndex: (truthValue: unknown, options: readonly string[]) => number;
    readonly wantedTruths: (answerColumn: AnswerColumn) => string;
  }
> = {
  probability: {
    valueCount: () => 1,
    fieldName: () => "probability",
    rounding: () => Infinity,
    truthIndex: yesOrNo,
    wantedTruths: () => "true or false, 1 or 0, yes or no",
  },
  distribution: {
    valueCount: (optionCount) => optionCount,
    fieldName: (optionName) => `probabilities.${optionName}`,
    rounding: (optionCount) => optionCount * 0.005 + 1e-6,
    truthIndex: (truthValue, options) => {
      const optionIndex = options.indexOf(String(truthValue));
      return optionIndex < 0 ? options.indexOf(truthText(truthValue)) : optionIndex;
    },
    wantedTruths: ({ isOrdered, options }) =>
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
  readonly #rowsById = new Map<string, number>();
  #latestRow = -1;
  readonly #numbers: number[] = [];
  #cachedValues: Float64Array | null = null;

  constructor({ question, kind, options, source }: RecordAnswer) {
    const { form, isOrdered } = toForm(kind);
    this.question = question;
    this.kind = kind;
    this.form = form;
    this.isOrdered = isOrdered;
    this.options = options;
    this.source = source;
    this.width = formFields[form].valueCount(options.length);
  }

  /** Row by row. */
  get values(): Float64Array {
    return (this.#cachedValues ??= new Float64Array(this.#numbers));
  }

  /** Returns the row of a record, or undefined. */
  rowOf(recordId: string): number | undefined {
    // Labels are mostly in the order of the answers; a million map lookups cost a second.
    const nextRow = this.#latestRow + 1;
    const rowIndex = this.ids[nextRow] === recordId ? nextRow : this.#rowsById.get(recordId);
    if (rowIndex !== undefined) this.#latestRow = rowIndex;
    return rowIndex;
  }

  /**
   * Adds a row, or with `last` replaces the record's row; returns false if the record has a row.
   *
   * @throws CalibrationInputError if a value is invalid, or the options are not those of the column.
   */
  add(recordAnswer: RecordAnswer, location: SourceLocation, isLastTaken: boolean): boolean {
    this.#checkAnswer(recordAnswer, location);
    const { ids, options, values, state } = recordAnswer;
    let answerRow: number | undefined;
    for (const recordId of ids) answerRow ??= this.#rowsById.get(recordId);
    if (answerRow !== undefined && !isLastTaken) return false;
    this.#cachedValues = null;
    const rowIndex = answerRow ?? this.ids.length;
    if (answerRow === undefined) {
      for (const recordId of ids) this.#rowsById.set(recordId, rowIndex);
      this.ids.push(ids[0] ?? "");
    }
    this.states[rowIndex] = state;
    for (let position = 0; position < values.length; position += 1) {
      // The options of a record may be in another order.
      const isSamePlace = options[position] === this.options[position];
      const ownPosition = isSamePlace
        ? position
        : this.options.indexOf(options[position] as string);
      this.#numbers[rowIndex * this.width + ownPosition] = values[position] as number;
    }
    return true;
  }

  #checkAnswer({ kind, options, values }: RecordAnswer, location: SourceLocation): void {
    const { fieldName, rounding } = formFields[toForm(kind).form];
    let probabilitySum = 0;
    for (let position = 0; position < values.length; position += 1) {
      const probability = values[position] as number;
      probabilitySum += probability;
      if (typeof probability === "number" && probability >= 0 && probability <= 1) continue;
      const valueName = `${fieldName(options[position] as string)} of ${quote(this.question)}`;
      rejectField(location, [valueName, probability], "a number from 0 to 1");
    }
    if (Math.abs(probabilitySum - 1) > rounding(values.length)) {
      const sumName = `the sum of the probabilities of ${quote(this.question)}`;
      rejectField(location, [sumName, Number(probabilitySum.toFixed(3))], "1");
    }
    const hasSameOptions =
      kind === this.kind &&
      (options === this.options ||
        (options.length === this.options.length &&
          options.every(
            (optionName, position) =>
              optionName === this.options[position] || this.options.includes(optionName),
          )));
    if (hasSameOptions) return;
    const problem = `question ${quote(this.question)} has the options ${listNames(options)}`;
    const earlierOptions = `in earlier rows ${listNames(this.options)}`;
    throw new CalibrationInputError(location, `${problem}, and ${earlierOptions}`);
  }

  /** Returns the truth of a row as the index of its option. @throws CalibrationInputError that lists the valid ones. */
  truthOf(truthValue: unknown, location: SourceLocation, _row?: number): number {
    const ownFields = formFields[this.form];
    const optionIndex = ownFields.truthIndex(truthValue, this.options);
    if (optionIndex >= 0) return optionIndex;
    return rejectField(
      location,
      [`truth of ${quote(this.question)}`, truthValue],
      ownFields.wantedTruths(this),
    );
  }
}
