import { createReadStream } from "node:fs";
import {
  CalibrationInputError,
  listNames,
  parseLabel,
  type SourceLocation,
  stateHash,
  truthText,
  yesOrNo,
} from "evaluator-calibration/reports";
import { CliError, type CliContext, printable, toFileError } from "evaluator-kit";
import type { ActRow } from "./act-rows.ts";
import { printCounted } from "./amounts.ts";
import { toInputError } from "./input/input-error.ts";
import { readTable, TableError } from "./input/read-table.ts";
import { toInputPath } from "./output/paths.ts";

/** The truths that people gave some records: no act contradicts one of them. */
export class KnownTruths {
  /** By the key of a record or of a state, and the question. */
  readonly #truths = new Map<string, Set<unknown>>();
  /** The questions of the labels of each record; empty for the only one. */
  readonly #questions = new Map<string, Set<string>>();
  /** The first label of each question. */
  readonly #locations = new Map<string, SourceLocation>();
  readonly #answeredQuestions = new Set<string>();
  /** The labelled records that no row was about so far. */
  readonly #missingIds = new Set<string>();

  /** Reads labels in each form that `calibrate` takes; without a file none are known. */
  static async read(file: string | undefined, { cwd, signal }: CliContext): Promise<KnownTruths> {
    const knownTruths = new KnownTruths();
    if (file === undefined) return knownTruths;
    const path = toInputPath(file, cwd);
    try {
      for await (const records of readTable(createReadStream(path, { signal }))) {
        for (const record of records) {
          if ("problem" in record) throw new TableError(record.line, record.problem);
          const label = parseLabel(record, { file, by: "group", onePer: "group" });
          if (label !== null) knownTruths.#addLabel(label);
        }
      }
    } catch (error) {
      throw toFileError(toInputError(error, file), `read ${path}`);
    }
    return knownTruths;
  }

  #addLabel(label: NonNullable<ReturnType<typeof parseLabel>>): void {
    const { id, question, truth, location } = label;
    if (question !== null && !this.#locations.has(question))
      this.#locations.set(question, location);
    if (truth === null) return;
    this.#missingIds.add(id);
    const questions = this.#questions.get(id) ?? new Set();
    this.#questions.set(id, questions.add(question ?? ""));
    this.#add(toKey({ id }, question ?? ""), [truth]);
  }

  #add(key: string, truths: Iterable<unknown>): void {
    const knownValues = this.#truths.get(key) ?? new Set();
    // Each value once: thousands of labelled records may have one state.
    for (const truth of truths) knownValues.add(truth);
    this.#truths.set(key, knownValues);
  }

  /**
   * Notes the questions and the state of a record: a label is one of all records with that state.
   *
   * @throws CliError if a label of a yes/no answer is neither.
   */
  addRow({ input: { id: ownId, names = [ownId] }, kept, keptState }: ActRow): void {
    const answers = kept?.answers ?? {};
    if (this.#locations.size > 0)
      for (const id of Object.keys(answers)) this.#answeredQuestions.add(id);
    for (const id of names.filter((name) => this.#questions.has(name))) {
      this.#missingIds.delete(id);
      const state = keptState === undefined ? null : stateHash(keptState);
      for (const question of this.#questions.get(id) ?? []) {
        const truths = this.#truths.get(toKey({ id }, question)) ?? [];
        const own = question === "" ? Object.values(answers) : [answers[question]];
        const isYesOrNo = own.length > 0 && own.every((answer) => answer?.type === "boolean");
        if (isYesOrNo) checkYesOrNo(id, truths);
        if (state !== null) this.#add(toKey({ state }, question), truths);
      }
    }
  }

  /**
   * Returns a line about the labels of other records than those of all rows; empty if there are none.
   *
   * @throws CliError if a label is of a question that no row answers.
   */
  describeMissing(): string {
    const answeredQuestions = this.#answeredQuestions;
    for (const [question, location] of answeredQuestions.size === 0 ? [] : this.#locations) {
      if (answeredQuestions.has(question)) continue;
      const problem = `question is ${listNames([question])}; it must be one of ${listNames([...answeredQuestions])}`;
      throw toInputError(new CalibrationInputError(location, problem), location.file);
    }
    const [first] = this.#missingIds;
    if (first === undefined) return "";
    const isAll = this.#missingIds.size === this.#questions.size;
    const next = isAll ? " No label is of a record here: compare the ids of the two files." : "";
    const counted = printCounted(this.#missingIds.size, "labelled record");
    return (
      printable`Passed over: ${counted} without an answer here, such as "${first}".${next}` + "\n"
    );
  }

  /** Returns whether a label of the record, or of one with the same state, contradicts an act. */
  contradict({ input, keptState, kept }: ActRow, question: string, act: string): boolean {
    if (this.#truths.size === 0) return false;
    const { names = [input.id] } = input;
    const records = [
      ...names.map((id) => ({ id })),
      ...(keptState === undefined ? [] : [{ state: stateHash(keptState) }]),
    ];
    const keys = records.flatMap((record) => [toKey(record, question), toKey(record, "")]);
    const { probabilities } = Object(kept?.answers[question]) as { probabilities?: object };
    const options = new Set(Object.keys(probabilities ?? {}));
    const isOther = (truth: unknown) => !isSameTruth(truth, act, options);
    return keys.some((key) => Array.from(this.#truths.get(key) ?? []).some(isOther));
  }
}

function toKey(record: { readonly id: string } | { readonly state: string }, question: string) {
  return JSON.stringify([record, question]);
}

function checkYesOrNo(id: string, truths: Iterable<unknown>): void {
  for (const truth of truths) {
    if (yesOrNo(truth) >= 0) continue;
    const problem = printable`The label of "${id}" is "${String(truth)}"`;
    throw new CliError(`${problem}; it must be true or false, 1 or 0, yes or no.`);
  }
}

function isSameTruth(truth: unknown, act: string, options: ReadonlySet<string>): boolean {
  const side = act === "yes" ? 1 : act === "no" ? 0 : -1;
  // An option that is named 1.0 is not the option 1.
  if (options.has(String(truth))) return String(truth) === act;
  return side < 0 ? [String(truth), truthText(truth)].includes(act) : yesOrNo(truth) === side;
}
