import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { type InputRecord, recordSplitter } from "evaluator-calibration";
import { type CliContext, printable, toFileError } from "evaluator-kit";

/** The name and hash of a file in a report. */
export type ReadFile = Awaited<ReturnType<typeof readRecords>>;

/** A file to read. */
interface RecordFile {
  /** The typed name, for messages. */
  readonly name: string;
  readonly path: string;
  /** Whether it may be CSV. @default false */
  readonly csv?: boolean;
}

/** Returns whether a file is a SQLite database. @throws CliError if it cannot be read. */
export async function isDatabase(path: string): Promise<boolean> {
  try {
    await using file = await open(path, "r");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
    return bytesRead === 16 && buffer.toString("latin1") === "SQLite format 3\u0000";
  } catch (error) {
    throw toFileError(error, `read ${path}`, "Check its name and rights.");
  }
}

const CHUNK_BYTES = 1 << 16;
/** The interval of progress lines. Chosen, not measured. */
export const PROGRESS_EVERY_MS = 2000;

/**
 * Streams a file record by record, and prints its progress.
 *
 * @throws CalibrationInputError for an invalid record, CliError if the file cannot be read.
 */
export async function readRecords(
  { name, path, csv = false }: RecordFile,
  context: CliContext,
  take: (record: InputRecord) => void,
) {
  const splitter = recordSplitter(name, { csv });
  const decoder = new StringDecoder("utf8");
  const sha256 = createHash("sha256");
  const progress = await progressOf(name, path, context);
  let records = 0;
  const takeAll = (found: readonly InputRecord[]) => {
    for (const record of found) take(record);
    records += found.length;
  };
  try {
    const stream = createReadStream(path, { highWaterMark: CHUNK_BYTES, signal: context.signal });
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      sha256.update(chunk);
      takeAll(splitter.push(decoder.write(chunk)));
      progress(chunk.length, records);
    }
  } catch (error) {
    throw toFileError(error, `read ${path}`, "Check its name and rights.");
  }
  takeAll(splitter.push(decoder.end()));
  takeAll(splitter.end());
  return { name, sha256: sha256.digest("hex") };
}

async function progressOf(name: string, path: string, { clock, stderr }: CliContext) {
  const size = (await stat(path).catch(() => null))?.size ?? 0;
  let [read, next] = [0, clock.now() + PROGRESS_EVERY_MS];
  return (bytes: number, records: number) => {
    read += bytes;
    if (clock.now() < next) return;
    next = clock.now() + PROGRESS_EVERY_MS;
    const share = size === 0 ? "" : `, ${Math.floor((100 * read) / size)} %`;
    stderr.write(printable`${name}: ${records.toLocaleString("en")} records read${share}\n`);
  };
}

/** Returns the fields of a record; none if it is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
