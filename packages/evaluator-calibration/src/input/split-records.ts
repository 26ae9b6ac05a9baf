import { CalibrationInputError } from "./input-error.ts";
import type { InputRecord, RecordSplitter } from "./input-record.ts";
import { CsvSplitter } from "./split-csv.ts";

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
