import { CalibrationInputError } from "./input-error.ts";
import type { InputRecord, RecordSplitter } from "./input-record.ts";

/** Comma- or semicolon-separated values with a header; each record is an object of texts. */
export class CsvSplitter implements RecordSplitter {
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
