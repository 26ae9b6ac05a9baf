import { stringify } from "csv-stringify/sync";
import { toPrintable } from "evaluator-kit";
import type { OutputFormat } from "../shared-options.ts";

/**
 * One output record: its id, the columns of its source, then for each question its option, mean
 * level or probability, and its confidence (contract section 4.7).
 */
export interface ResultRecord {
  readonly id: string;
  /** Null when the service gave none. */
  readonly [field: string]: string | number | null;
}

// Records may be more than memory holds.
type Items<TItem> = Iterable<TItem> | AsyncIterable<TItem>;
type Fields = Readonly<Record<string, unknown>>;

interface RecordsFormat {
  readonly format: OutputFormat;
  /** The names of all fields, in order; a CSV has one column for each. */
  readonly names: readonly string[];
}

/** Returns the text of a results file, piece by piece. */
export function formatRecords(
  writtenRecords: Items<Fields>,
  { format, names }: RecordsFormat,
): AsyncGenerator<string> {
  if (format === "csv") return toCsv(writtenRecords, names);
  return format === "json" ? toJsonArray(writtenRecords) : toJsonLines(writtenRecords);
}

// Formulas of spreadsheets; the library's list lacks the full-width signs.
const formulaStart = /^['"]?[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20]/u;
const cast = { string: toCell };

/** Returns the text of a CSV file: a header, then a row for each record; no cell is a formula. */
async function* toCsv(csvRecords: Items<Fields>, names: readonly string[]): AsyncGenerator<string> {
  yield stringify([names], { cast });
  for await (const csvRecord of csvRecords) {
    yield stringify([names.map((columnName) => csvRecord[columnName] ?? null)], { cast });
  }
}

function toCell(cellText: string): string {
  const plainText = toPrintable(cellText);
  return formulaStart.test(plainText) ? `'${plainText}` : plainText;
}

const END = "\n]";

/**
 * Returns the text of a JSON array, one piece for each item, indented by two.
 */
export async function* toJsonArray(writtenItems: Items<unknown>): AsyncGenerator<string> {
  let isFirst = true;
  for await (const writtenItem of writtenItems) {
    // JSON.stringify indents the item inside an array.
    const arrayText = JSON.stringify([writtenItem], null, 2);
    yield isFirst ? arrayText.slice(0, -END.length) : `,${arrayText.slice(1, -END.length)}`;
    isFirst = false;
  }
  yield isFirst ? "[]\n" : `${END}\n`;
}

/** Returns the text of a file with one JSON value a line. */
async function* toJsonLines(writtenItems: Items<unknown>): AsyncGenerator<string> {
  for await (const writtenItem of writtenItems) yield `${JSON.stringify(writtenItem)}\n`;
}

// Line breaks stay: between the values of JSON they are layout, and in them there are none.
const unprintable = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes control characters in JSON, so that it is safe to print. */
function withEscapes(jsonText: string): string {
  return jsonText.replace(unprintable, (character) => {
    const codeUnits = character.split("").map((textUnit) => textUnit.charCodeAt(0).toString(16));
    return codeUnits.map((codeUnit) => `\\u${codeUnit.padStart(4, "0")}`).join("");
  });
}

/** Escapes control characters in texts of JSON; CSV has none. */
export async function* toSafeTexts(
  recordTexts: AsyncIterable<string>,
  { format }: Pick<RecordsFormat, "format">,
): AsyncGenerator<string> {
  for await (const text of recordTexts) yield format === "csv" ? text : withEscapes(text);
}
