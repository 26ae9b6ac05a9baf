import { isUtf8 } from "node:buffer";
import { CliError, printable } from "evaluator-kit";
import { type JsonRecord, readJsonRecords } from "./json-records.ts";
import { NOT_UTF8, peek, toUtf8Chunks } from "./utf8-chunks.ts";

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
): AsyncGenerator<Iterable<JsonRecord>> {
  const { start, all, close } = await peek(toUtf8Chunks(chunks), PEEK_BYTES);
  try {
    const [first] = start.toString("latin1").trimStart();
    yield* first === "[" || first === "{" ? readJsonRecords(all, "records") : readCsv(all);
  } finally {
    await close();
  }
}

async function* readCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<Iterable<JsonRecord>> {
  const splitter = new CsvSplitter();
  for await (const chunk of chunks) yield splitter.split(chunk);
  yield splitter.end();
}

const [NUL, TAB, NEWLINE, RETURN, QUOTE, COMMA, SEMICOLON] = [0, 9, 10, 13, 34, 44, 59];
const LINE_ENDS = new Set([NEWLINE, RETURN]);

const QUOTES = "a quote inside a cell is written twice";

/** A line of a table that cannot be read, so that no later one can. */
export class TableError extends CliError {
  readonly line: number;
  readonly problem: string;

  constructor(line: number, problem: string) {
    super(`line ${line}: ${problem}`);
    this.line = line;
    this.problem = problem;
  }
}

/**
 * Splits values that commas, semicolons or tabs separate, with a header. A record is an object with
 * a text for each column; an empty cell is an empty text.
 */
class CsvSplitter {
  #header: readonly string[] | null = null;
  /** One of them, as soon as the header shows it. */
  #delimiters = new Set([COMMA, SEMICOLON, TAB]);
  #records: JsonRecord[] = [];
  #cells: string[] = [];
  /** The part of a cell before the current piece. */
  #cell = "";
  #quotes: "none" | "open" | "closed" = "none";
  #before: number | undefined;
  #line = 1;
  #recordLine = 1;
  #quoteLine = 1;

  /** Takes a piece of any size; returns the records that are complete. @throws TableError */
  split(chunk: Buffer): JsonRecord[] {
    // All separators are ASCII, so that each cell can be decoded alone.
    const text = chunk.toString("latin1");
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      // Most characters are letters, which end no cell.
      if (code > SEMICOLON && this.#quotes !== "closed") continue;
      const isFirst = from === at && this.#cell === "";
      const isSyntax = this.#isSyntax(code, isFirst);
      this.#countLine(code, at === 0 ? this.#before : text.charCodeAt(at - 1));
      if (!isSyntax) continue;
      this.#cell += text.slice(from, at);
      from = at + 1;
      this.#take(code);
    }
    this.#cell += text.slice(from);
    this.#before = text.charCodeAt(text.length - 1);
    return this.#records.splice(0);
  }

  /** Returns the last record. @throws TableError if a quote is not closed. */
  end(): JsonRecord[] {
    if (this.#quotes === "open") {
      this.#refuse(`a quote never closes; ${QUOTES}`, this.#quoteLine);
    }
    this.#endCell();
    this.#endRecord();
    return this.#records.splice(0);
  }

  #isSyntax(code: number, isFirst: boolean): boolean {
    if (this.#quotes === "closed") return true;
    if (code === QUOTE) return isFirst || this.#quotes === "open";
    return this.#quotes === "none" && (this.#delimiters.has(code) || LINE_ENDS.has(code));
  }

  #countLine(code: number, before: number | undefined): void {
    if (code === RETURN || (code === NEWLINE && before !== RETURN)) this.#line += 1;
    if (code !== NUL) return;
    const problem = "has a NUL character; save the file as UTF-8";
    this.#refuse(problem, this.#line);
  }

  #take(code: number): void {
    if (code === QUOTE) this.#takeQuote();
    else if (this.#delimiters.has(code)) {
      if (this.#header === null) this.#delimiters = new Set([code]);
      this.#endCell();
    } else if (LINE_ENDS.has(code)) {
      this.#endCell();
      this.#endRecord();
    } else {
      const problem = `text follows the quote that closes the cell of line ${this.#quoteLine}`;
      this.#refuse(`${problem}; ${QUOTES}`, this.#line);
    }
  }

  #takeQuote(): void {
    if (this.#quotes === "none") this.#quoteLine = this.#line;
    // The second of two quotes is one.
    if (this.#quotes === "closed") this.#cell += '"';
    this.#quotes = this.#quotes === "open" ? "closed" : "open";
  }

  #endCell(): void {
    this.#cells.push(this.#decode(this.#cell));
    this.#cell = "";
    this.#quotes = "none";
  }

  #decode(cell: string): string {
    if (!/[\u0080-\u00FF]/.test(cell)) return cell;
    const bytes = Buffer.from(cell, "latin1");
    if (isUtf8(bytes)) return bytes.toString();
    return this.#refuse(`${NOT_UTF8}, in a spreadsheet as CSV UTF-8`, this.#recordLine);
  }

  #endRecord(): void {
    const [cells, line] = [this.#cells, this.#recordLine];
    [this.#cells, this.#recordLine] = [[], this.#line];
    if (cells.length === 1 && cells[0]?.trim() === "") return;
    if (this.#header === null) {
      if (!this.#isSeparatorLine(cells, line)) this.#takeHeader(cells, line);
      return;
    }
    if (cells.length !== this.#header.length) {
      const problem = `has ${cells.length} ${cells.length === 1 ? "cell" : "cells"}, and the header ${this.#header.length}`;
      const advice = "quote a cell with a comma or a line break";
      this.#refuse(`${problem}; ${advice}`, line);
    }
    const value = Object.fromEntries(this.#header.map((name, i) => [name, cells[i] as string]));
    this.#records.push({ line, value });
  }

  // Excel's first line "sep=;", which it hides from its user; its own separator has already split it.
  #isSeparatorLine([first = "", ...others]: readonly string[], line: number): boolean {
    if (!/^sep=/i.test(first)) return false;
    if (others.join("") !== "") return false; // a column with that name
    if (others.length === 1) return true;
    const problem = "is Excel's separator line; separate by comma, semicolon or tab";
    return this.#refuse(`${problem}, and remove the line`, line);
  }

  #takeHeader(cells: readonly string[], line: number): void {
    const names = new Set<string>();
    for (const [i, cell] of cells.entries()) {
      const name = cell.trim();
      const rule = "give each column its own name";
      if (name === "") this.#refuse(`column ${i + 1} has no name; ${unnamedAdvice(i)}`, line);
      if (names.has(name))
        this.#refuse(printable`two columns are named "${name.slice(0, 60)}"; ${rule}`, line);
      names.add(name);
    }
    this.#header = [...names];
  }

  #refuse(problem: string, line: number): never {
    throw new TableError(line, problem);
  }
}

function unnamedAdvice(index: number): string {
  const rule = "name it or delete the column";
  // A row number in the state would be input to the model.
  return index === 0 ? `pandas leaves it out with to_csv(FILE, index=False), or ${rule}` : rule;
}
