import { isUtf8 } from "node:buffer";
import { CliError, jsonErrorPlace, type JsonPath, parseExactJson } from "evaluator-kit";
import { NOT_UTF8, peek } from "./utf8-chunks.ts";

/** The start of a file that shows the layout of its records. */
const PEEK_BYTES = 1024 * 1024;
const MOST_SPACE_BEFORE_LIST = 200;
/** The maximum bytes of one record; a Gmail dump has mails with attachments. */
const RECORD_BYTES = 64 * 1024 * 1024;
const [NEWLINE, SPACE] = [10, 32] as const;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The text is no list of records. */
export class NoListError extends CliError {}

/** One record of a file and the line it begins on: its value, or the problem with its text. */
export type JsonRecord = { readonly line: number } & (
  | {
      readonly value: unknown;
      /** The places of numbers that JavaScript rounds, which are a problem if they are read. */
      readonly inexact?: readonly JsonPath[];
    }
  | { readonly problem: string }
);

/**
 * Reads the records of UTF-8 JSON, those of one piece of the text at a time: an array, an object with
 * the array under `listKey`, or one record a line. An invalid record is reported, and
 * the next one read.
 *
 * @throws CliError if the text is none of these, or is cut off.
 */
export async function* readJsonRecords(
  chunks: AsyncIterable<Buffer>,
  listKey: string,
): AsyncGenerator<Iterable<JsonRecord>> {
  const { start, all, close } = await peek(chunks, PEEK_BYTES);
  try {
    const listStart = findList(start, listKey);
    let from = listStart ?? 0;
    const splitter =
      listStart === null ? new LineSplitter() : new ListSplitter(start.subarray(0, from));
    try {
      for await (const chunk of all) {
        yield splitter.split(chunk.subarray(from));
        from = 0;
      }
      yield splitter.end();
    } catch (error) {
      if (splitter instanceof ListSplitter) yield splitter.lastWhole();
      throw error;
    }
  } finally {
    await close();
  }
}

/** Returns the start of the list's elements; null for one record a line. */
function findList(start: Buffer, listKey: string): number | null {
  const forms = `write a JSON array, { "${listKey}": [...] } or a record a line`;
  const text = start.toString("latin1");
  if (start.length < PEEK_BYTES && text.trim() === "") throw new CliError(`it is empty; ${forms}`);
  const first = text.slice(0, MOST_SPACE_BEFORE_LIST).trimStart().charAt(0);
  if (first !== "[" && first !== "{") {
    throw new NoListError(`it is no list of records; ${forms}`);
  }
  const walker = new JsonWalker();
  for (let at = walker.next(text, 0); at >= 0; at = walker.next(text, at + 1)) {
    const opensList = text[at] === "[" && walker.depth <= 2;
    if (opensList && (first === "[" || endsWithKey(text.slice(0, at), listKey))) return at + 1;
    if (walker.depth === 0 && text[at] === "}") return null;
  }
  return null;
}

function endsWithKey(before: string, key: string): boolean {
  const text = before.slice(-MOST_SPACE_BEFORE_LIST).trimEnd();
  return text.endsWith(":") && text.slice(0, -1).trimEnd().endsWith(JSON.stringify(key));
}

const outsideStrings = /["[\]{},]/g;
// A string ends with its line, so one mistake spoils one line.
const insideStrings = /["\\\n]/g;

/** Finds the brackets and commas of JSON that is read in pieces. */
class JsonWalker {
  /** The number of open arrays and objects. */
  depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** Returns the index of the next bracket or comma of a piece, and follows the depth; -1 if there is none. */
  next(piece: string, from: number): number {
    for (let at = from; at < piece.length;) {
      if (this.#isEscaped && piece[at] !== "\n") at += 1;
      this.#isEscaped = false;
      const pattern = this.#isInString ? insideStrings : outsideStrings;
      pattern.lastIndex = at;
      if (!pattern.test(piece)) return -1;
      at = pattern.lastIndex;
      const character = piece.charAt(at - 1);
      if (character === "\\") this.#isEscaped = true;
      else if (character === '"' || character === "\n") this.#isInString = !this.#isInString;
      else {
        if (character === "[" || character === "{") this.depth += 1;
        else if (character !== ",") this.depth -= 1;
        return at - 1;
      }
    }
    return -1;
  }
}

/** Collects the bytes of one record, which begins after white space, and counts lines and columns, from 1. */
class RecordCollector {
  #parts: Buffer[] = [];
  #length = 0;
  #line = 1;
  #column = 1;
  #begin = { line: 1, column: 1 };

  /** The line that was reached. */
  get line(): number {
    return this.#line;
  }

  /** Whether all bytes of the record so far are white space. */
  get isBlank(): boolean {
    return this.#length === 0;
  }

  /** Counts bytes that belong to no record; the next one begins after them. */
  skip(part: Buffer): void {
    this.#count(part);
    this.#begin = { line: this.#line, column: this.#column };
  }

  /** Adds bytes of the record. */
  add(part: Buffer): void {
    const start = this.isBlank ? part.findIndex((byte) => byte > SPACE) : 0;
    if (start !== 0) this.skip(start < 0 ? part : part.subarray(0, start));
    if (start < 0) return;
    const rest = part.subarray(start);
    this.#count(rest);
    this.#length += rest.length;
    if (this.#length > RECORD_BYTES) this.#parts = [];
    else this.#parts.push(rest);
  }

  /** Returns the record, and begins the next one. */
  take(): JsonRecord {
    const [first = Buffer.alloc(0), ...others] = this.#parts;
    // Most records are within one piece, and need no copy.
    const bytes = others.length === 0 ? first : Buffer.concat(this.#parts);
    const isTooLarge = this.#length > RECORD_BYTES;
    const begin = this.#begin;
    this.#parts = [];
    this.#length = 0;
    this.#begin = { line: this.#line, column: this.#column };
    if (isTooLarge) {
      return { line: begin.line, problem: "is larger than 64 MB; cut it or leave it out" };
    }
    return parseRecord(bytes, begin);
  }

  #count(part: Buffer): void {
    let last = -1;
    for (let at = part.indexOf(NEWLINE); at >= 0; at = part.indexOf(NEWLINE, at + 1)) {
      this.#line += 1;
      last = at;
    }
    this.#column = last < 0 ? this.#column + part.length : part.length - last;
  }
}

interface Position {
  readonly line: number;
  readonly column: number;
}

function parseRecord(bytes: Buffer, begin: Position): JsonRecord {
  try {
    return parseText(utf8.decode(bytes), begin);
  } catch {
    return { line: begin.line, problem: NOT_UTF8 };
  }
}

function parseText(text: string, { line, column }: Position): JsonRecord {
  try {
    const { value, inexact } = parseExactJson(text);
    if (isDeeper(value, MOST_LEVELS)) {
      return { line, problem: `is nested deeper than ${MOST_LEVELS} levels; flatten its JSON` };
    }
    return inexact.length === 0 ? { line, value } : { line, value, inexact };
  } catch (error) {
    const at = jsonErrorPlace(text, error);
    const atColumn = at.line > 1 ? at.column : column + at.column - 1;
    return { line, problem: `is not JSON; check line ${line + at.line - 1} column ${atColumn}` };
  }
}

// More than the client sends; thousands of levels exhaust the stack.
const MOST_LEVELS = 500;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

/** Splits a JSON list into its elements, piece by piece; the text around it must be JSON. */
class ListSplitter {
  readonly #walker = new JsonWalker();
  readonly #record = new RecordCollector();
  readonly #around: Buffer[] = [];
  #aroundLength = 0;
  #isEmpty = true;

  /** @param before - The text before the first element. */
  constructor(before: Buffer) {
    this.#walker.depth = 1;
    this.#record.skip(before);
    this.#keepAround(before);
  }

  /** Returns the records that end in a piece of the text. */
  *split(chunk: Buffer): Generator<JsonRecord> {
    const piece = chunk.toString("latin1");
    let start = 0;
    for (let end = this.#findEnd(piece, 0); end >= 0; end = this.#findEnd(piece, end + 1)) {
      const isComma = piece[end] === ",";
      this.#record.add(chunk.subarray(start, end));
      start = isComma ? end + 1 : end;
      if (isComma || !this.#isEmpty || !this.#record.isBlank) yield this.#record.take();
      this.#record.skip(chunk.subarray(end, start));
      this.#isEmpty = false;
    }
    if (this.#walker.depth > 0) this.#record.add(chunk.subarray(start));
    else this.#keepAround(chunk.subarray(start));
  }

  /** Checks the end of the text. @throws CliError if the text is cut off. */
  end(): JsonRecord[] {
    if (this.#walker.depth > 0) {
      throw new CliError("the list of records has no end");
    }
    try {
      JSON.parse(Buffer.concat(this.#around).toString());
      return [];
    } catch {
      throw new CliError("not JSON around the list of records");
    }
  }

  /** Returns the last record if it is complete although the text was cut off. */
  lastWhole(): JsonRecord[] {
    const isWhole = this.#walker.depth === 1 && !this.#record.isBlank;
    return isWhole ? [this.#record.take()] : [];
  }

  // The end of an element, or of the list; -1 if neither is in the piece.
  #findEnd(piece: string, from: number): number {
    const walker = this.#walker;
    const isEnd = (at: number) => walker.depth === 0 || (walker.depth === 1 && piece[at] === ",");
    let at = walker.depth === 0 ? -1 : walker.next(piece, from);
    while (at >= 0 && !isEnd(at)) at = walker.next(piece, at + 1);
    return at;
  }

  #keepAround(part: Buffer): void {
    this.#aroundLength += part.length;
    if (this.#aroundLength > RECORD_BYTES) {
      throw new CliError("too much around the list of records; give the list alone");
    }
    this.#around.push(part);
  }
}

/** Splits text into lines, without blank ones. */
class LineSplitter {
  /** The line that is open at the end of a piece. */
  readonly #record = new RecordCollector();

  split(chunk: Buffer): JsonRecord[] {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    let records: JsonRecord[] = [];
    if (end > 0) {
      const first = chunk.indexOf(NEWLINE);
      this.#record.add(chunk.subarray(0, first));
      records = [...this.end(), ...this.#readLines(chunk.subarray(first, end))];
    }
    this.#record.add(chunk.subarray(end));
    return records;
  }

  end(): JsonRecord[] {
    return this.#record.isBlank ? [] : [this.#record.take()];
  }

  #readLines(lines: Buffer): JsonRecord[] {
    // Together, since to decode each line alone takes as long as to parse it.
    const isPlain = isUtf8(lines) && !lines.includes("\uFEFF");
    const { line } = this.#record;
    this.#record.skip(lines);
    const texts = lines.toString(isPlain ? "utf8" : "latin1").split("\n");
    return texts.flatMap((text, at) => {
      if (text.trim() === "") return [];
      const begin = { line: line + at, column: 1 };
      return isPlain ? parseText(text, begin) : parseRecord(Buffer.from(text, "latin1"), begin);
    });
  }
}
