import { Option } from "evaluator-kit";
import type { RecordSource } from "evaluator-runs/source";
import { stateColumns, toRecordColumns } from "./state-columns.ts";

/** Records of any kind, in CSV or JSON, as the records of runs. */
export const tableSource: RecordSource = {
  word: "record",
  program: "evaluator-cli",
  suffix: "evaluator",
  journalVariable: "EVALUATOR_JOURNAL",
  inputForm:
    "CSV with a header, one JSON object a line, or a JSON array; UTF-8 or UTF-16; - reads standard input",
  examples: [
    "run tickets.csv --questions q.json --state subject,body",
    "run tickets.csv --questions q.json --id number --state subject,text=body --dry-run",
  ],
  options: [
    new Option("--id <column>", "the column of the ids, which do not repeat").default("id"),
    new Option(
      "--state <columns>",
      "the columns of the state, such as subject,body, or text=body for another key (default: all but the id)",
    ).argParser(stateColumns),
  ],
  readState: ({ id, state }) => toRecordColumns({ id, columns: state }),
  // Loaded late, since --help needs none of it.
  async open(path, options) {
    const { openTable } = await import("./table-input.ts");
    return await openTable(path, options);
  },
  columns: [],
  queryColumns: [{ name: "state", what: "as JSON", of: ({ state }) => JSON.stringify(state) }],
  table: null,
  keepStateOptions: toRecordColumns,
};
