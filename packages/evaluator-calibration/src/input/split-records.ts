import { CalibrationInputError, type InputRecord } from "./input-record.ts";

/** Takes a text in pieces of any size, and returns the records that are complete. */
export interface RecordSplitter {
  push(text: string): InputRecord[];
  /** Returns the rest. @throws CalibrationInputError if the last record is cut. */
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
    const end = text.lastIndexOf("\n");
    if (end === -1) {
      this.#pieces.push(text);
      return [];
    }
    const whole = this.#pieces.join("") + text.slice(0, end);
    this.#pieces = [text.slice(end + 1)];
    return this.#read(whole);
  }

  end(): InputRecord[] {
    return this.#read(this.#pieces.join(""));
  }

  #read(lines: string): InputRecord[] {
    const records: InputRecord[] = [];
    for (const text of lines.split("\n")) {
      const line = this.#line++;
      if (text.trim() === "") continue;
      records.push({ line, value: parseJson(text, this.#file, line) });
    }
    return records;
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
      .map((name, i) => [name, cells[i] === "" ? undefined : cells[i]] as const)
      // An empty truth is a row that is not filled in yet; without the column there is no truth at all.
      .filter(([name, text]) => text !== undefined || name === "truth");
    records.push({ line, value: Object.fromEntries(filled) });
  }
}
