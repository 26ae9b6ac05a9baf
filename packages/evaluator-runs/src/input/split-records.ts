import { CliError } from "evaluator-kit";

/** The most bytes of one record; a mail with its attachments may stand in a Gmail dump. */
const RECORD_BYTES = 64 * 1024 * 1024;
const [NEWLINE, SPACE, QUOTE, COMMA, BACKSLASH] = [10, 32, 34, 44, 92] as const;

/** The text of one record, and where it begins, from 1. */
export interface RecordText {
  /** Null when there are too many. */
  readonly bytes: Buffer | null;
  readonly line: number;
  readonly column: number;
}

// Byte by byte, and from here on by Node's own search, which takes a fiftieth of it: a word is found
// sooner without it, a letter or an attachment in a Gmail dump with it.
const SHORT_TEXT_BYTES = 128;
const SEARCHED_BYTES = 16 * 1024;

/** Follows JSON byte by byte; a string ends at its line's end, so that one mistake spoils one line. */
export class JsonWalker {
  static readonly ARRAY = 91;
  static readonly OBJECT_END = 125;
  static readonly #ARRAY_END = 93;
  static readonly #OBJECT = 123;
  /** How many arrays and objects are open. */
  depth: number;
  #inString = false;
  #isEscaped = false;

  constructor(depth = 0) {
    this.depth = depth;
  }

  /** Returns where the text of an open string ends, or the index given when it stands in none. */
  textEnd(bytes: Buffer, from: number): number {
    if (!this.#inString || this.#isEscaped) return from;
    const short = Math.min(from + SHORT_TEXT_BYTES, bytes.length);
    for (let at = from; at < short; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE || byte === BACKSLASH || byte === NEWLINE) return at;
    }
    return longTextEnd(bytes, short);
  }

  /** Takes the next byte and returns whether it stands outside every string. */
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

// In pieces, so that the search for what comes much later is not made over and over.
function longTextEnd(bytes: Buffer, from: number): number {
  for (let start = from; start < bytes.length; start += SEARCHED_BYTES) {
    const piece = bytes.subarray(start, start + SEARCHED_BYTES);
    const ends = [QUOTE, BACKSLASH, NEWLINE].map((byte) => piece.indexOf(byte));
    const found = ends.filter((end) => end >= 0);
    if (found.length > 0) return start + Math.min(...found);
  }
  return bytes.length;
}

/** Collects the bytes of one record, and counts lines and columns for where it begins. */
class RecordCollector {
  #parts: Buffer[] = [];
  #length = 0;
  #line = 1;
  #column = 1;
  #begin = { line: 1, column: 1 };
  /** Whether nothing but white space has come. */
  isBlank = true;

  /** Counts a byte, of the record or after it. */
  count(byte: number, isOfRecord = true): void {
    if (isOfRecord && byte > SPACE) this.isBlank = false;
    this.#column += 1;
    if (byte !== NEWLINE) return;
    this.#line += 1;
    this.#column = 1;
  }

  /** Counts bytes within a string, none of which ends a line. */
  countText(length: number): void {
    this.#column += length;
  }

  /** Adds bytes that were counted. */
  add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > RECORD_BYTES) this.#parts = [];
    else this.#parts.push(part);
  }

  /** Returns the record, and begins the next after the last byte counted. */
  take(): RecordText {
    const bytes = this.#length > RECORD_BYTES ? null : joined(this.#parts);
    const text = { bytes, ...this.#begin };
    this.#parts = [];
    this.#length = 0;
    this.#begin = { line: this.#line, column: this.#column };
    this.isBlank = true;
    return text;
  }
}

// Most records lie within one piece, and need no copy.
function joined([first, ...others]: readonly Buffer[]): Buffer {
  return first !== undefined && others.length === 0
    ? first
    : Buffer.concat([first ?? Buffer.alloc(0), ...others]);
}

/** Cuts text into records, piece by piece. */
export interface RecordSplitter {
  /** Returns the records that end in a piece of the text. */
  split(chunk: Buffer): Generator<RecordText>;
  /**
   * Returns what is left at the end of the text.
   *
   * @throws CliError when the text breaks off.
   */
  end(): RecordText[];
  /** Returns the record that was whole when the text broke off, if there is one. */
  lastWhole(): RecordText[];
}

/** Cuts a JSON list into its elements; what stands around it must be JSON. */
export class ListSplitter implements RecordSplitter {
  readonly #walker = new JsonWalker(1);
  readonly #record = new RecordCollector();
  readonly #around: Buffer[] = [];
  #aroundLength = 0;
  #listStart: number;
  #count = 0;

  /** @param listStart - Where the first element begins, within the first piece. */
  constructor(listStart: number) {
    this.#listStart = listStart;
  }

  *split(chunk: Buffer): Generator<RecordText> {
    let start = this.#skipToList(chunk);
    for (let end = this.#findEnd(chunk, start); end >= 0; end = this.#findEnd(chunk, end + 1)) {
      const isComma = chunk[end] === COMMA;
      this.#record.add(chunk.subarray(start, end));
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
    for (const byte of chunk.subarray(0, start)) this.#record.count(byte, false);
    this.#listStart = 0;
    if (start === 0) return 0;
    this.#keepAround(chunk.subarray(0, start));
    this.#record.take();
    return start;
  }

  #findEnd(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length && this.#walker.depth > 0; at += 1) {
      const textEnd = this.#walker.textEnd(chunk, at);
      this.#record.countText(textEnd - at);
      at = textEnd;
      if (at === chunk.length) return -1;
      const byte = chunk[at] as number;
      const isEnd = this.#isEnd(byte);
      this.#record.count(byte, !isEnd);
      if (isEnd) return at;
    }
    return -1;
  }

  #isEnd(byte: number): boolean {
    if (!this.#walker.isStructure(byte)) return false;
    const { depth } = this.#walker;
    return depth === 0 || (depth === 1 && byte === COMMA);
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

/** Cuts text into its lines, without those of white space alone. */
export class LineSplitter implements RecordSplitter {
  readonly #record = new RecordCollector();

  *split(chunk: Buffer): Generator<RecordText> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      this.#record.count(byte);
      if (byte !== NEWLINE) continue;
      this.#record.add(chunk.subarray(start, at));
      start = at + 1;
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
