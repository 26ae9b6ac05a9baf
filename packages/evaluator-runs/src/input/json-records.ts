import { CliError } from "evaluator-kit";
import {
  JsonWalker,
  LineSplitter,
  ListSplitter,
  type RecordSplitter,
  type RecordText,
} from "./split-records.ts";

/** How much of a file is looked at to see how its records are laid out. */
const PEEK_BYTES = 1024 * 1024;
const MOST_SPACE_BEFORE_LIST = 200;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The text is no list of records. */
export class NoListError extends CliError {}

/** One record of a JSON file: its value, or what is wrong with its text. */
export type JsonRecord = { readonly value: unknown } | { readonly problem: string };

/**
 * Reads the records of UTF-8 JSON, those of one piece of the text at a time: an array, an object
 * with the array under `listKey`, or one record a line. A record that is no JSON is told, and the
 * next one read.
 *
 * The text is cut apart byte by byte and parsed by `JSON.parse`, which takes 0.4 s for 100,000 mails and
 * goes on after a mistake; a streaming parser (stream-json 3.8) took 0.95 s.
 *
 * @throws CliError when the text is none of these, or breaks off.
 */
export async function* readJsonRecords(
  chunks: AsyncIterable<Buffer>,
  listKey: string,
): AsyncGenerator<Iterable<JsonRecord>> {
  const { start, all, close } = await peek(chunks, PEEK_BYTES);
  try {
    const listStart = findList(start, listKey);
    yield* readAll(all, listStart === null ? new LineSplitter() : new ListSplitter(listStart));
  } finally {
    await close();
  }
}

async function* readAll(
  chunks: AsyncIterable<Buffer>,
  splitter: RecordSplitter,
): AsyncGenerator<Iterable<JsonRecord>> {
  try {
    for await (const chunk of chunks) yield parseTexts(splitter.split(chunk));
    yield parseTexts(splitter.end());
  } catch (error) {
    yield parseTexts(splitter.lastWhole());
    throw error;
  }
}

function* parseTexts(texts: Iterable<RecordText>): Generator<JsonRecord> {
  for (const text of texts) yield parseText(text);
}

/** Reads so many bytes of a stream ahead; an error of it comes after what came before. */
export async function peek(chunks: AsyncIterable<Buffer>, size: number) {
  const iterator = chunks[Symbol.asyncIterator]();
  const taken: Buffer[] = [];
  let rest: AsyncIterator<Buffer> = iterator;
  for (let length = 0; length < size;) {
    const next = await iterator.next().catch((error: unknown) => ({ error }));
    if ("error" in next) {
      if (taken.length === 0) throw next.error;
      rest = { next: async () => await Promise.reject(next.error) };
      break;
    }
    if (next.done === true) break;
    taken.push(next.value);
    length += next.value.length;
  }
  const start = Buffer.concat(taken);
  const close = async () => void (await iterator.return?.());
  return { start, all: startAndRest(start, rest), close };
}

async function* startAndRest(start: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield start;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/** Returns where the elements of the list begin; null when there is one record a line. */
function findList(start: Buffer, listKey: string): number | null {
  if (isBlank(start)) {
    throw new CliError(
      `it is empty; write a JSON array, { "${listKey}": [...] } or one record a line`,
    );
  }
  const first = start.subarray(0, MOST_SPACE_BEFORE_LIST).toString("latin1").trimStart().charAt(0);
  if (first !== "[" && first !== "{") {
    throw new NoListError(
      `it is no list of records; write a JSON array, { "${listKey}": [...] } or one record a line`,
    );
  }
  const walker = new JsonWalker();
  for (const [at, byte] of start.entries()) {
    if (!walker.isStructure(byte)) continue;
    const opensList = byte === JsonWalker.ARRAY && (walker.depth === 1 || walker.depth === 2);
    if (opensList && (first === "[" || endsWithKey(start.subarray(0, at), listKey))) return at + 1;
    if (walker.depth === 0 && byte === JsonWalker.OBJECT_END) return null;
  }
  return null;
}

function isBlank(start: Buffer): boolean {
  return start.length < PEEK_BYTES && start.toString("latin1").trim() === "";
}

function endsWithKey(before: Buffer, key: string): boolean {
  const text = before.subarray(-MOST_SPACE_BEFORE_LIST).toString("latin1").trimEnd();
  return text.endsWith(":") && text.slice(0, -1).trimEnd().endsWith(JSON.stringify(key));
}

function parseText({ bytes, line, column }: RecordText): JsonRecord {
  if (bytes === null) return { problem: "is larger than 64 MB; cut it or leave it out" };
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { problem: "is not UTF-8 text; save the file in that encoding" };
  }
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    const position = positionInText(error) ?? positionOfStart(text);
    const [atLine, atColumn] = position.line > 1 ? [position.line, 0] : [1, column - 1];
    return {
      problem: `is not JSON; check line ${line + atLine - 1} column ${atColumn + position.column}`,
    };
  }
}

// The parser's message quotes the text around the mistake; only the position is safe to show.
function positionInText(error: unknown): { line: number; column: number } | null {
  const found = /\(line (\d{1,9}) column (\d{1,9})\)$/.exec(String(error));
  return found === null ? null : { line: Number(found[1]), column: Number(found[2]) };
}

function positionOfStart(text: string): { line: number; column: number } {
  const space = text.slice(0, text.length - text.trimStart().length);
  const lines = space.split("\n");
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
