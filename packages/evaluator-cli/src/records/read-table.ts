import { CalibrationInputError, recordSplitter } from "evaluator-calibration";
import { CliError } from "evaluator-kit";
import { type JsonRecord, peek, readJsonRecords, toUtf8Chunks } from "evaluator-runs/source";

/** The start of a file that shows its format: more than any byte order mark and space before it. */
const PEEK_BYTES = 4096;

/**
 * Reads the records of a table, those of one piece at a time: CSV with a header, or JSON as
 * `readJsonRecords` reads it; in UTF-8 or UTF-16.
 *
 * @throws CliError if the bytes are none of these.
 */
export async function* readTable(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Iterable<JsonRecord>> {
  const { start, all, close } = await peek(toUtf8Chunks(chunks), PEEK_BYTES);
  try {
    const [first] = start.toString("latin1").trimStart();
    if (first === undefined && start.length < PEEK_BYTES) {
      throw new CliError("it is empty; write CSV with a header, or JSON with one record a line");
    }
    yield* first === "[" || first === "{" ? readJsonRecords(all, "records") : readCsv(all);
  } finally {
    await close();
  }
}

async function* readCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<Iterable<JsonRecord>> {
  const splitter = recordSplitter("", { csv: true });
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const chunk of chunks) yield splitter.push(decoder.decode(chunk, { stream: true }));
    yield splitter.push(decoder.decode());
    yield splitter.end();
  } catch (error) {
    if (error instanceof CalibrationInputError) throw new CliError(error.message.trim());
    if (!(error instanceof TypeError)) throw error;
    throw new CliError("it is not UTF-8 text; save it again in UTF-8");
  }
}
