import { stringify } from "csv-stringify/sync";
import { plainText } from "../text/plain-text.ts";
import type { TriageRecord } from "./triage-record.ts";

// What a spreadsheet may run; the library's own list stops at the plain forms of the signs.
const formulaStart = /^['"]?[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20]/u;
const cast = { string: toCell };

/** Gives the text of a CSV file: a header, then a row for each record; no cell is a formula. */
export function* toCsv(records: readonly TriageRecord[]): Generator<string> {
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
  yield stringify([names], { cast });
  for (const record of records) {
    yield stringify([names.map((name) => record[name] ?? null)], { cast });
  }
}

function toCell(text: string): string {
  const plain = plainText(text);
  return formulaStart.test(plain) ? `'${plain}` : plain;
}
