import { existsSync } from "node:fs";
import { appendFile, chmod } from "node:fs/promises";
import { CliError, printable, readTextFile, toFileError, writeWholeFile } from "evaluator-kit";
import { z } from "zod";
import { lockBeside } from "../sqlite/lock-file.ts";

const labelSchema = z.looseObject({
  id: z.string(),
  question: z.string().optional(),
  /** Yes or no, the name of an option, the index of a level, or null for a skipped record. */
  truth: z.union([z.boolean(), z.string(), z.number()]).nullable(),
  skipped: z.boolean().optional(),
  labeler: z.string().optional(),
  /** The plan of a promise that the record was drawn for. */
  draw: z.looseObject({ plan: z.string() }).optional(),
  /** "override" for a correction of an answer, "spot-check" for a random check of a week. */
  origin: z.string().optional(),
  week: z.int().optional(),
});

/** One line of a file of labels; unknown fields are kept. */
export type SavedLabel = z.infer<typeof labelSchema>;
/** The fields that no two labels of a file share. */
type LabelKey = Pick<SavedLabel, "id" | "question" | "labeler" | "draw" | "origin">;

/** Labels in a file for `calibrate`, one JSON object per line. One process at a time has the file. */
export class LabelFile implements Disposable {
  readonly path: string;
  readonly #labels = new Map<string, SavedLabel>();
  readonly #unlock: () => void;
  /** Whether the file holds whole lines, so that a new label can be appended. */
  #isWhole = false;
  #lastWrite: Promise<void> = Promise.resolve();

  private constructor(path: string) {
    this.path = path;
    this.#unlock = lockBeside(path, "page");
  }

  /** Reads the labels of a file, which may be missing. @throws CliError if another page has it. */
  static async open(path: string): Promise<LabelFile> {
    const file = new LabelFile(path);
    try {
      await file.#read();
      return file;
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  async #read(): Promise<void> {
    const { path } = this;
    if (!existsSync(path)) return;
    const text = await readTextFile(path);
    for (const [index, line] of text.split("\n").entries()) {
      if (line.trim() === "") continue;
      const label = parseLabel(line, `line ${index + 1} of ${path}`);
      this.#labels.set(toKey(label), label);
    }
    await chmod(path, 0o600);
    this.#isWhole = text.endsWith("\n");
  }

  /** Returns a label; undefined if there is none. */
  find(key: LabelKey): SavedLabel | undefined {
    return this.#labels.get(toKey(key));
  }

  /** The labels of random checks. */
  get spotChecks(): SavedLabel[] {
    return [...this.#labels.values()].filter(({ origin }) => origin === "spot-check");
  }

  /** The labels that were drawn for promises, each with its line. */
  get drawn() {
    return [...this.#labels.values()]
      .map((value, index) => ({ line: index + 1, value }))
      .filter(({ value }) => value.draw !== undefined);
  }

  /** Saves a label to the disk; it replaces the one of the same labeler. @throws CliError if that fails. */
  async save(label: SavedLabel): Promise<void> {
    // One after the other; a failed write does not fail the next one.
    this.#lastWrite = this.#lastWrite.catch(() => undefined).then(() => this.#write(label));
    await this.#lastWrite;
  }

  async #write(label: SavedLabel): Promise<void> {
    const key = toKey(label);
    const isAppended = this.#isWhole && !this.#labels.has(key);
    this.#labels.set(key, label);
    this.#isWhole = false;
    const note = "The label was not saved.";
    // Writing 10,000 labels anew for each one would write 7 GB.
    const writePromise = isAppended
      ? appendFile(this.path, toLine(label), { flush: true })
      : writeWholeFile(this.path, [...this.#labels.values()].map(toLine), { failureNote: note });
    await writePromise.catch((error: unknown) => {
      throw toFileError(error, `write ${this.path}`, note);
    });
    this.#isWhole = true;
  }

  /** Leaves the file to others. */
  [Symbol.dispose](): void {
    this.#unlock();
  }
}

// A record may be labelled for a promise, in a random draw of all records, and as a correction.
function toKey({ question, id, labeler, draw, origin }: LabelKey): string {
  const isOverride = origin === "override";
  return JSON.stringify([question ?? null, id, labeler ?? null, draw?.plan ?? null, isOverride]);
}

function toLine(label: SavedLabel): string {
  return `${JSON.stringify(label)}\n`;
}

function parseLabel(line: string, where: string): SavedLabel {
  try {
    return labelSchema.parse(JSON.parse(line));
  } catch (error) {
    const form = "write { id, question, truth }, or move the file";
    throw new CliError(printable`${where} is no label: ${form}.`, { cause: error });
  }
}
