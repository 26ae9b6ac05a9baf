import { recordLabel } from "./record-source.ts";

const PROBLEMS_SHOWN = 10;

/** The problems of the records of a file: the first ones as text, the others counted. */
export class RecordProblems {
  #shown: { readonly index: number; readonly line: string }[] = [];
  #count = 0;

  /** Adds a problem of the record at an index. */
  add(index: number, id: string | undefined, problem: string): void {
    this.#count += 1;
    const last = this.#shown.at(-1)?.index ?? -1;
    if (this.#shown.length === PROBLEMS_SHOWN && last <= index) return;
    const line = `${recordLabel(index, id)}: ${problem}`;
    this.#shown = [...this.#shown, { index, line }]
      .toSorted((one, other) => one.index - other.index)
      .slice(0, PROBLEMS_SHOWN);
  }

  /** Returns the problems, one a line. */
  describe(): string {
    const rest = this.#count - this.#shown.length;
    const more = rest === 0 ? [] : [`and ${rest} more`];
    return [...this.#shown.map(({ line }) => line), ...more].join("\n  ");
  }
}
