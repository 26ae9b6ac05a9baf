import type { JsonObject } from "evaluator-client";
import { CliError, isRecord, printable } from "evaluator-kit";
import {
  type InputOptions,
  openRecords,
  type RecordForm,
  type RecordInput,
  type RunRecord,
} from "evaluator-runs/source";
import { readTable } from "evaluator-runs/table";
import { answerInState, type RecordColumns, stateOf, toRecordColumns } from "./state-columns.ts";

/** More columns than these are no state that a person wants. Chosen, not measured. */
const COLUMNS_AT_MOST = 1000;

/**
 * Opens a table as the input of a run, and checks all its records.
 *
 * @throws CliError that names the file and its problems, and quotes no value.
 */
export async function openTable(path: string, options: InputOptions): Promise<RecordInput> {
  return await openRecords(path, tableForm(options), options);
}

function tableForm({ state: options = {}, questions }: InputOptions): RecordForm<RunRecord> {
  const wanted = toRecordColumns(options);
  const seen = new Set<string>();
  return {
    split: readTable,
    check(value) {
      if (!isRecord(value)) return wrong("is not an object; write { id, … }");
      const record = value as JsonObject;
      noteColumns(record, wanted, seen);
      const id = idOf(record, wanted.id);
      if (id === undefined) return wrong(`has no id; ${idAdvice}`);
      const state = stateOf(record, wanted);
      if (state !== null) return { id, record: { id, state, source: null }, problems: [] };
      return wrong("has a blank state; fill it, or leave the record out with --skip-invalid", id);
    },
    checkFile() {
      const { id, columns } = wanted;
      if (seen.size === 0)
        return "it has no record; write CSV with a header, or JSON with one record a line";
      if (!seen.delete(id)) return noColumn(id, `${idAdvice}, in the column that --id names`);
      if (columns === null) return questions ? answerInState(seen, questions) : null;
      const unseen = columns.find(([, column]) => column !== id && !seen.has(column));
      return unseen ? noColumn(unseen[1], "choose those of the state with --state") : null;
    },
    advice: "Check the path.",
  };
}

const idAdvice = "give every record its own id";

function wrong(problem: string, id?: string) {
  return { id, record: null, problems: [problem] };
}

function noColumn(name: string, advice: string): string {
  return printable`no record has the column "${name}"; ${advice}`;
}

function noteColumns(record: JsonObject, { id, columns }: RecordColumns, seen: Set<string>): void {
  const names = columns === null ? Object.keys(record) : [id, ...columns.map(([, name]) => name)];
  for (const name of names) if (Object.hasOwn(record, name)) seen.add(name);
  if (columns !== null || seen.size <= COLUMNS_AT_MOST) return;
  throw new CliError(`it has more than ${COLUMNS_AT_MOST} columns; choose some with --state A,B`);
}

/** Returns the id as text; undefined if there is none. */
function idOf(record: JsonObject, column: string): string | undefined {
  const id = Object.hasOwn(record, column) ? record[column] : undefined;
  if (typeof id === "string") return id.trim() === "" ? undefined : id;
  // Beyond these, two different numbers can be one.
  return typeof id === "number" && Number.isSafeInteger(id) ? String(id) : undefined;
}
