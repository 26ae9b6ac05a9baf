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
    const labelPath = toInputPath(file, cwd);
    try {
      for await (const records of readTable(createReadStream(labelPath, { signal }))) {
        for (const labelRecord of records) {
          if ("problem" in labelRecord) throw new TableError(labelRecord.line, labelRecord.problem);
          const parsedLabel = parseLabel(labelRecord, { file, by: "group", onePer: "group" });
          if (parsedLabel !== null) knownTruths.#addLabel(parsedLabel);
        }
      }
    } catch (error) {
      throw toFileError(toInputError(error, file), `read ${labelPath}`);
    }
    return knownTruths;
  }

  #addLabel(parsedLabel: NonNullable<ReturnType<typeof parseLabel>>): void {
    const { id, question, truth, location } = parsedLabel;
    if (question !== null && !this.#locations.has(question))
      this.#locations.set(question, location);
    if (truth === null) return;
    this.#missingIds.add(id);
    const questions = this.#questions.get(id) ?? new Set();
    this.#questions.set(id, questions.add(question ?? ""));
    this.#add(toKey({ id }, question ?? ""), [truth]);
  }

  #add(truthKey: string, addedTruths: Iterable<unknown>): void {
    const knownValues = this.#truths.get(truthKey) ?? new Set();
    // Each value once: thousands of labelled records may have one state.
    for (const addedTruth of addedTruths) knownValues.add(addedTruth);
    this.#truths.set(truthKey, knownValues);
  }

  /**
   * Notes the questions and the state of a record: a label is one of all records with that state.
   *
   * @throws CliError if a label of a yes/no answer is neither.
   */
  addRow({ input: { id: ownId, names = [ownId] }, kept, keptState }: ActRow): void {
    const answers = kept?.answers ?? {};
    if (this.#locations.size > 0)
      for (const questionId of Object.keys(answers)) this.#answeredQuestions.add(questionId);
    for (const id of names.filter((recordName) => this.#questions.has(recordName))) {
      this.#missingIds.delete(id);
      const state = keptState === undefined ? null : stateHash(keptState);
      for (const labelledQuestion of this.#questions.get(id) ?? []) {
        const truths = this.#truths.get(toKey({ id }, labelledQuestion)) ?? [];
        const own = labelledQuestion === "" ? Object.values(answers) : [answers[labelledQuestion]];
        const isYesOrNo = own.length > 0 && own.every((ownAnswer) => ownAnswer?.type === "boolean");
        if (isYesOrNo) checkYesOrNo(id, truths);
        if (state !== null) this.#add(toKey({ state }, labelledQuestion), truths);
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
  contradict({ input, keptState, kept }: ActRow, question: string, actName: string): boolean {
    if (this.#truths.size === 0) return false;
    const { names = [input.id] } = input;
    const recordKeys = [
      ...names.map((id) => ({ id })),
      ...(keptState === undefined ? [] : [{ state: stateHash(keptState) }]),
    ];
    const truthKeys = recordKeys.flatMap((record) => [toKey(record, question), toKey(record, "")]);
    const { probabilities } = Object(kept?.answers[question]) as { probabilities?: object };
    const optionNames = new Set(Object.keys(probabilities ?? {}));
    const isOther = (knownTruth: unknown) => !isSameTruth(knownTruth, actName, optionNames);
    return truthKeys.some((truthKey) => Array.from(this.#truths.get(truthKey) ?? []).some(isOther));
  }
}

function toKey(recordKey: { readonly id: string } | { readonly state: string }, question: string) {
  return JSON.stringify([recordKey, question]);
}

function checkYesOrNo(labelledId: string, truths: Iterable<unknown>): void {
  for (const knownTruth of truths) {
    if (yesOrNo(knownTruth) >= 0) continue;
    const problem = printable`The label of "${labelledId}" is "${String(knownTruth)}"`;
    throw new CliError(`${problem}; it must be true or false, 1 or 0, yes or no.`);
  }
}

function isSameTruth(truth: unknown, actName: string, optionNames: ReadonlySet<string>): boolean {
  const side = actName === "yes" ? 1 : actName === "no" ? 0 : -1;
  // An option that is named 1.0 is not the option 1.
  if (optionNames.has(String(truth))) return String(truth) === actName;
  return side < 0 ? [String(truth), truthText(truth)].includes(actName) : yesOrNo(truth) === side;
}
