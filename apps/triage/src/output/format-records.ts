import type { TextPieces } from "../text/join-pieces.ts";
import { toCsv } from "./to-csv.ts";
import { toJsonArray } from "./to-json-array.ts";
import { toJsonLines } from "./to-json-lines.ts";
import type { TriageRecord } from "./triage-record.ts";

/** How results can be written. */
export const outputFormats = ["json", "ndjson", "csv"] as const;
/** See {@link outputFormats}. */
export type OutputFormat = (typeof outputFormats)[number];

const formatters: Record<OutputFormat, (records: readonly TriageRecord[]) => TextPieces> = {
  json: toJsonArray,
  ndjson: toJsonLines,
  csv: toCsv,
};

/** Gives the text of a results file, piece by piece. */
export function formatRecords(records: readonly TriageRecord[], format: OutputFormat): TextPieces {
  return formatters[format](records);
}
