import { CsvSplitter } from "./csv-splitter.ts";
import { type JsonParser, type JsonRecord, readJsonRecords } from "./json-records.ts";
import { peek, toUtf8Chunks } from "./utf8-chunks.ts";

export { TableError } from "./csv-splitter.ts";

/** The start of a file that shows its format: more than any byte order mark and space before it. */
const PEEK_BYTES = 4096;

/**
 * Reads the records of a table, those of one piece at a time: CSV with a header, or JSON as
 * `readJsonRecords` reads it; in UTF-8 or UTF-16. An empty file has none.
 *
 * @throws CliError if the bytes are none of these; a TableError names the line.
 */
export async function* readTable(
  chunks: AsyncIterable<Buffer>,
  parseLine?: JsonParser,
): AsyncGenerator<Iterable<JsonRecord>> {
  const { start, all, close } = await peek(toUtf8Chunks(chunks), PEEK_BYTES);
  try {
    const [first] = start.toString("latin1").trimStart();
    yield* first === "[" || first === "{"
      ? readJsonRecords(all, "records", parseLine)
      : readCsv(all);
  } finally {
    await close();
  }
}

async function* readCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<Iterable<JsonRecord>> {
  const splitter = new CsvSplitter();
  for await (const chunk of chunks) yield splitter.split(chunk);
  yield splitter.end();
}
