import { createReadStream } from "node:fs";
import {
  CalibrationInputError,
  parseLabel,
  stateHash,
  truthText,
  yesOrNo,
} from "evaluator-calibration/reports";
import { CliError, type CliContext } from "evaluator-kit";
import type { ActRow } from "./act-rows.ts";
import { readTable, TableError } from "./input/read-table.ts";
import { toInputPath } from "./output/paths.ts";

/** The truths that people gave some records: no act contradicts one of them. */
export class KnownTruths {
  /** By the key of a record or of a state, and the question. */
  readonly #truths = new Map<string, Set<unknown>>();
  /** The questions of the labels of each record; empty for the only one. */
  readonly #questions = new Map<string, Set<string>>();

  /** Reads labels in each form that `calibrate` takes; without a file none are known. */
  static async read(file: string | undefined, { cwd, signal }: CliContext): Promise<KnownTruths> {
    const knownTruths = new KnownTruths();
    if (file === undefined) return knownTruths;
    const stream = createReadStream(toInputPath(file, cwd), { signal });
    try {
      for await (const records of readTable(stream)) {
        for (const record of records) {
          if ("problem" in record) throw new TableError(record.line, record.problem);
          const label = parseLabel(record, { file, by: "group", onePer: "group" });
          if (label !== null) knownTruths.#addLabel(label);
        }
      }
    } catch (error) {
      if (!(error instanceof CalibrationInputError)) throw error;
      throw new CliError(`${error.message}.`, { cause: error });
    }
    return knownTruths;
  }

  #addLabel({ id, question, truth }: NonNullable<ReturnType<typeof parseLabel>>): void {
    if (truth === null) return;
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

  /** Notes the state of a labelled record: its label is one of all records with that state. */
  addState(row: ActRow): void {
    const { names = [row.input.id] } = row.input;
    const labelled = names.filter((id) => this.#questions.has(id));
    if (labelled.length === 0 || row.keptState === undefined) return;
    const state = stateHash(row.keptState);
    for (const id of labelled) {
      for (const question of this.#questions.get(id) ?? []) {
        this.#add(toKey({ state }, question), this.#truths.get(toKey({ id }, question)) ?? []);
      }
    }
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

function isSameTruth(truth: unknown, act: string, options: ReadonlySet<string>): boolean {
  const side = act === "yes" ? 1 : act === "no" ? 0 : -1;
  // An option that is named 1.0 is not the option 1.
  if (options.has(String(truth))) return String(truth) === act;
  return side < 0 ? [String(truth), truthText(truth)].includes(act) : yesOrNo(truth) === side;
}
