import type { TriageRecord } from "../output/triage-record.ts";
import { alignColumns } from "./align-columns.ts";
import { cutGraphemes } from "../text/cut-graphemes.ts";
import { plainText } from "../text/plain-text.ts";

const header = ["imp", "conf", "scam", "deal", "category", "date", "from", "subject"];

/** Gives the table a person reads: the most important mail first, input order among equals. */
export function triageTable(records: readonly TriageRecord[]): string {
  const sorted = records.toSorted((one, other) => other.importance - one.importance);
  return alignColumns([header, ...sorted.map(toRow)]);
}

function toRow(record: TriageRecord): string[] {
  const { importance, importanceConf, scam, brandDeal } = record;
  return [
    ...[importance, importanceConf, scam, brandDeal].map(toDecimals),
    record.category,
    record.date,
    cutGraphemes(plainText(record.from), 28),
    cutGraphemes(plainText(record.subject), 60),
  ];
}

function toDecimals(value: number | null): string {
  return value === null ? "-" : value.toFixed(2);
}
