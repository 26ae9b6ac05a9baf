import { CliError } from "evaluator-kit";

/** The maximum bytes of one record; a Gmail dump has mails with attachments. */
const RECORD_BYTES = 64 * 1024 * 1024;
const [NEWLINE, SPACE, QUOTE, COMMA, BACKSLASH] = [10, 32, 34, 44, 92] as const;

/** The text of one record, and its first line and column, from 1. */
export interface RecordText {
  /** Null if there are too many. */
  readonly bytes: Buffer | null;
  readonly line: number;
  readonly column: number;
}

// Long texts, such as attachments, are searched by Node, in a fiftieth of the time; the end of a
// short text is found sooner byte by byte.
const SHORT_TEXT_BYTES = 128;
const SEARCHED_BYTES = 16 * 1024;

/** Follows JSON byte by byte; a string ends with its line, so one mistake spoils one line. */
export class JsonWalker {
  static readonly ARRAY = 91;
  static readonly OBJECT_END = 125;
  static readonly #ARRAY_END = 93;
  static readonly #OBJECT = 123;
  /** The number of open arrays and objects. */
  depth: number;
  #inString = false;
  #isEscaped = false;

  constructor(depth = 0) {
    this.depth = depth;
  }

  /** Returns the end of an open string, or `from` outside of strings. */
  textEnd(bytes: Buffer, from: number): number {
    if (!this.#inString || this.#isEscaped) return from;
    const short = Math.min(from + SHORT_TEXT_BYTES, bytes.length);
    for (let at = from; at < short; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE || byte === BACKSLASH || byte === NEWLINE) return at;
    }
    return longTextEnd(bytes, short);
  }

  /** Takes the next byte and returns whether it is outside of strings. */
  isStructure(byte: number): boolean {
    if (this.#inString && byte !== NEWLINE) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#inString = false;
      return false;
    }
    this.#inString = byte === QUOTE;
    this.#isEscaped = false;
    if (byte === JsonWalker.ARRAY || byte === JsonWalker.#OBJECT) this.depth += 1;
    else if (byte === JsonWalker.#ARRAY_END || byte === JsonWalker.OBJECT_END) this.depth -= 1;
    return true;
  }
}

// In pieces, so that a byte that is far away is not searched for again and again.
function longTextEnd(bytes: Buffer, from: number): number {
  for (let start = from; start < bytes.length; start += SEARCHED_BYTES) {
    const piece = bytes.subarray(start, start + SEARCHED_BYTES);
    const ends = [QUOTE, BACKSLASH, NEWLINE].map((byte) => piece.indexOf(byte));
    const found = ends.filter((end) => end >= 0);
    if (found.length > 0) return start + Math.min(...found);
  }
  return bytes.length;
}

/** Collects the bytes of one record, and counts lines and columns. */
class RecordCollector {
  #parts: Buffer[] = [];
  #length = 0;
  #line = 1;
  #column = 1;
  #begin = { line: 1, column: 1 };
  /** Whether all bytes of the record so far are white space. */
  isBlank = true;

  /** Counts bytes that belong to no record. */
  skip(part: Buffer): void {
    let last = -1;
    for (let at = part.indexOf(NEWLINE); at >= 0; at = part.indexOf(NEWLINE, at + 1)) {
      this.#line += 1;
      last = at;
    }
    this.#column = last < 0 ? this.#column + part.length : part.length - last;
  }

  /** Adds bytes of the record. */
  add(part: Buffer): void {
    this.skip(part);
    this.isBlank &&= !part.some((byte) => byte > SPACE);
    this.#length += part.length;
    if (this.#length > RECORD_BYTES) this.#parts = [];
    else this.#parts.push(part);
  }

  /** Returns the record, and begins the next one after the last counted byte. */
  take(): RecordText {
    const [first = Buffer.alloc(0), ...others] = this.#parts;
    // Most records are within one piece, and need no copy.
    const joined = others.length === 0 ? first : Buffer.concat([first, ...others]);
    const text = { bytes: this.#length > RECORD_BYTES ? null : joined, ...this.#begin };
    this.#parts = [];
    this.#length = 0;
    this.#begin = { line: this.#line, column: this.#column };
    this.isBlank = true;
    return text;
  }
}

/** Splits text into records, piece by piece. */
export interface RecordSplitter {
  /** Returns the records that end in a piece of the text. */
  split(chunk: Buffer): Generator<RecordText>;
  /** Returns the rest at the end of the text. @throws CliError if the text is cut off. */
  end(): RecordText[];
  /** Returns the last record if it is complete although the text was cut off. */
  lastWhole(): RecordText[];
}

/** Splits a JSON list into its elements; the text around it must be JSON. */
export class ListSplitter implements RecordSplitter {
  readonly #walker = new JsonWalker(1);
  readonly #record = new RecordCollector();
  readonly #around: Buffer[] = [];
  #aroundLength = 0;
  #listStart: number;
  #count = 0;

  /** @param listStart - The start of the first element, in the first piece. */
  constructor(listStart: number) {
    this.#listStart = listStart;
  }

  *split(chunk: Buffer): Generator<RecordText> {
    let start = this.#skipToList(chunk);
    for (let end = this.#findEnd(chunk, start); end >= 0; end = this.#findEnd(chunk, end + 1)) {
      const isComma = chunk[end] === COMMA;
      this.#record.add(chunk.subarray(start, end));
      if (isComma) this.#record.skip(chunk.subarray(end, end + 1));
      if (isComma || this.#count > 0 || !this.#record.isBlank) yield this.#take();
      start = isComma ? end + 1 : end;
    }
    if (this.#walker.depth > 0) this.#record.add(chunk.subarray(start));
    else this.#keepAround(chunk.subarray(start));
  }

  end(): RecordText[] {
    if (this.#walker.depth > 0) {
      throw new CliError("it breaks off; the list of records has no end");
    }
    try {
      JSON.parse(Buffer.concat(this.#around).toString());
      return [];
    } catch {
      throw new CliError("it is not JSON around the list of records");
    }
  }

  lastWhole(): RecordText[] {
    const isWhole = this.#walker.depth === 1 && !this.#record.isBlank;
    return isWhole ? [this.#take()] : [];
  }

  #skipToList(chunk: Buffer): number {
    const start = this.#listStart;
    this.#record.skip(chunk.subarray(0, start));
    this.#listStart = 0;
    if (start === 0) return 0;
    this.#keepAround(chunk.subarray(0, start));
    this.#record.take();
    return start;
  }

  // The end of an element, or of the list; -1 if neither is in the piece.
  #findEnd(chunk: Buffer, from: number): number {
    const walker = this.#walker;
    for (let at = from; at < chunk.length && walker.depth > 0; at += 1) {
      at = walker.textEnd(chunk, at);
      if (at === chunk.length) return -1;
      const byte = chunk[at] as number;
      if (!walker.isStructure(byte)) continue;
      if (walker.depth === 0 || (walker.depth === 1 && byte === COMMA)) return at;
    }
    return -1;
  }

  #take(): RecordText {
    this.#count += 1;
    return this.#record.take();
  }

  #keepAround(part: Buffer): void {
    this.#aroundLength += part.length;
    if (this.#aroundLength > RECORD_BYTES) {
      throw new CliError("there is too much around the list of records; give the list alone");
    }
    this.#around.push(part);
  }
}

/** Splits text into lines, without blank ones. */
export class LineSplitter implements RecordSplitter {
  readonly #record = new RecordCollector();

  *split(chunk: Buffer): Generator<RecordText> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#record.add(chunk.subarray(start, end));
      start = end + 1;
      this.#record.skip(chunk.subarray(end, start));
      const { isBlank } = this.#record;
      const record = this.#record.take();
      if (!isBlank) yield record;
    }
    this.#record.add(chunk.subarray(start));
  }

  end(): RecordText[] {
    return this.#record.isBlank ? [] : [this.#record.take()];
  }

  lastWhole(): RecordText[] {
    return [];
  }
}
