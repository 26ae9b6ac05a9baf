import { CalibrationInputError } from "./input-error.ts";

/** One record of a file and the line it begins on. */
export interface InputRecord {
  readonly line: number;
  readonly value: unknown;
}

/** Takes a text in pieces of any size, and gives the records that are whole. */
export interface RecordSplitter {
  push(text: string): InputRecord[];
  /** Gives what is left; throws where the last record is cut. */
  end(): InputRecord[];
}

/** Returns a splitter for the format that the first characters show: a JSON array, lines of JSON, or CSV. */
export function recordSplitter(file: string, { csv = false } = {}): RecordSplitter {
  let splitter: RecordSplitter | null = null;
  let start = "";
  const choose = (text: string) => {
    const first = text.replace(/^\uFEFF/, "").trimStart()[0];
    if (first === "[") return new ArraySplitter(file);
    return csv && first !== undefined && first !== "{"
      ? new CsvSplitter(file)
      : new LineSplitter(file);
  };
  return {
    push(text) {
      if (splitter !== null) return splitter.push(text);
      start += text;
      if (start.trim() === "" && start.length < 4096) return [];
      splitter = choose(start);
      return splitter.push(start.replace(/^\uFEFF/, ""));
    },
    end: () => splitter?.end() ?? [],
  };
}

/** One JSON value a line. */
class LineSplitter implements RecordSplitter {
  readonly #file: string;
  // A long line comes in many pieces: they are joined once, when it ends.
  #pieces: string[] = [];
  #line = 1;

  constructor(file: string) {
    this.#file = file;
  }

  push(text: string): InputRecord[] {
    const last = text.lastIndexOf("\n");
    if (last === -1) {
      this.#pieces.push(text);
      return [];
    }
    const whole = this.#pieces.join("") + text.slice(0, last);
    this.#pieces = [text.slice(last + 1)];
    return this.#split(whole);
  }

  end(): InputRecord[] {
    const left = this.#pieces.join("");
    this.#pieces = [];
    return this.#split(left);
  }

  #split(text: string): InputRecord[] {
    const first = this.#line;
    const count = countLines(text);
    this.#line += count;
    const values = parseTogether(text, count);
    if (values !== null) return values.map((value, at) => ({ line: first + at, value }));
    return text.split("\n").flatMap((line, at) => {
      if (line.trim() === "") return [];
      return [{ line: first + at, value: parseJson(line, this.#file, first + at) }];
    });
  }
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Lines parsed as one array take half the time; null where they are not one value each. */
function parseTogether(text: string, count: number): unknown[] | null {
  try {
    const values = JSON.parse(`[${text.replaceAll("\n", ",")}]`) as unknown[];
    return values.length === count ? values : null;
  } catch {
    return null;
  }
}

const [QUOTE, BACKSLASH, NEWLINE, COMMA] = [34, 92, 10, 44];
const OPENING = new Set([91, 123]);
const CLOSING = new Set([93, 125]);

/** The items of one JSON array, without ever holding all of it. */
class ArraySplitter implements RecordSplitter {
  readonly #file: string;
  #pieces: string[] = [];
  #line = 1;
  #itemLine = 1;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isDone = false;

  constructor(file: string) {
    this.#file = file;
  }

  push(text: string): InputRecord[] {
    const records: InputRecord[] = [];
    let from = 0;
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i);
      if (code === NEWLINE) this.#line += 1;
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (code === BACKSLASH) this.#isEscaped = true;
        else if (code === QUOTE) this.#isInString = false;
        continue;
      }
      if (code === QUOTE) this.#isInString = true;
      else if (OPENING.has(code)) {
        this.#depth += 1;
        if (this.#depth === 1) from = i + 1;
        if (this.#depth === 2) this.#itemLine = this.#line;
      } else if (CLOSING.has(code)) this.#depth -= 1;
      const isEnd = this.#depth === 0 && CLOSING.has(code);
      if (!isEnd && !(code === COMMA && this.#depth === 1)) continue;
      this.#add(text.slice(from, i), records, isEnd);
      from = i + 1;
    }
    if (!this.#isDone || text.slice(from).trim() !== "") this.#pieces.push(text.slice(from));
    return records;
  }

  end(): InputRecord[] {
    const left = this.#pieces.join("").trim();
    if (!this.#isDone) {
      const problem = "the JSON array has no end; the file may be cut short";
      throw new CalibrationInputError({ file: this.#file, line: this.#line }, problem);
    }
    if (left !== "") this.#refuseMore();
    return [];
  }

  #refuseMore(): never {
    const problem = "something follows the end of the JSON array; a file holds one";
    throw new CalibrationInputError({ file: this.#file, line: this.#line }, problem);
  }

  #add(piece: string, records: InputRecord[], isEnd: boolean): void {
    if (this.#isDone) this.#refuseMore();
    const text = this.#pieces.join("") + piece;
    this.#pieces = [];
    const isEmpty = isEnd && text.trim() === "";
    if (!isEmpty) {
      const value = parseJson(text, this.#file, this.#itemLine);
      records.push({ line: this.#itemLine, value });
    }
    this.#isDone ||= isEnd;
  }
}

function parseJson(text: string, file: string, line: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The text itself may be somebody's mail, so it is not quoted.
    const problem = "is not JSON; each record is one JSON object";
    throw new CalibrationInputError({ file, line }, problem);
  }
}

/** Comma- or semicolon-separated values with a header; each record is an object of texts. */
class CsvSplitter implements RecordSplitter {
  readonly #file: string;
  #header: string[] | null = null;
  #delimiter = ",";
  #cells: string[] = [];
  #cell: string[] = [];
  #isQuoted = false;
  #hasQuoteBefore = false;
  #line = 1;
  #recordLine = 1;

  constructor(file: string) {
    this.#file = file;
  }

  push(text: string): InputRecord[] {
    const records: InputRecord[] = [];
    for (const character of text) this.#take(character, records);
    return records;
  }

  end(): InputRecord[] {
    const records: InputRecord[] = [];
    if (this.#isQuoted && !this.#hasQuoteBefore) {
      const problem = 'a quoted field has no end; close it with "';
      throw new CalibrationInputError({ file: this.#file, line: this.#recordLine }, problem);
    }
    this.#isQuoted = false;
    if (this.#cells.length > 0 || this.#cell.length > 0) this.#endRecord(records);
    return records;
  }

  #take(character: string, records: InputRecord[]): void {
    if (character === "\n") this.#line += 1;
    if (this.#isQuoted) {
      if (character === '"') {
        if (this.#hasQuoteBefore) this.#cell.push('"');
        this.#hasQuoteBefore = !this.#hasQuoteBefore;
        return;
      }
      if (!this.#hasQuoteBefore) {
        this.#cell.push(character);
        return;
      }
      this.#isQuoted = false;
      this.#hasQuoteBefore = false;
    }
    if (character === '"' && this.#cell.length === 0) this.#isQuoted = true;
    else if (this.#isDelimiter(character)) this.#endCell();
    else if (character === "\n") this.#endRecord(records);
    else if (character !== "\r") this.#cell.push(character);
  }

  /** A header without a comma shows the semicolons of a spreadsheet. */
  #isDelimiter(character: string): boolean {
    if (this.#header === null && this.#cells.length === 0 && character === ";") {
      this.#delimiter = ";";
    }
    return character === this.#delimiter;
  }

  #endCell(): void {
    this.#cells.push(this.#cell.join(""));
    this.#cell = [];
  }

  #endRecord(records: InputRecord[]): void {
    this.#endCell();
    const cells = this.#cells;
    const line = this.#recordLine;
    this.#cells = [];
    this.#recordLine = this.#line;
    if (cells.length === 1 && cells[0]?.trim() === "") return;
    if (this.#header === null) {
      this.#header = cells.map((cell) => cell.trim());
      return;
    }
    const header = this.#header;
    if (cells.length !== header.length) {
      const problem = `has ${cells.length} fields, and the header ${header.length}`;
      throw new CalibrationInputError({ file: this.#file, line }, problem);
    }
    const filled = header
      .map((name, i) => [name, cells[i] ?? ""])
      .filter(([, text]) => text !== "");
    records.push({ line, value: Object.fromEntries(filled) as unknown });
  }
}
