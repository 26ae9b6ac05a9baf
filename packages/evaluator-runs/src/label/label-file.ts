import { existsSync } from "node:fs";
import { CliError, printable, toFileError, readTextFile } from "evaluator-kit";
import { z } from "zod";
import { writePrivateFile } from "../output/write-records.ts";

const labelSchema = z.looseObject({
  id: z.string(),
  question: z.string().optional(),
  /** Yes or no, the name of an option, the index of a level, or null for a skipped record. */
  truth: z.union([z.boolean(), z.string(), z.number()]).nullable(),
  skipped: z.boolean().optional(),
  weight: z.number().positive().optional(),
});

// One line of a file of labels; unknown fields are kept.
type SavedLabel = z.infer<typeof labelSchema>;

/** Labels in a file for `evaluator-cli calibrate`, one JSON object per line. */
export class LabelFile {
  readonly path: string;
  readonly #labels: Map<string, SavedLabel>;
  #saved: Promise<void> = Promise.resolve();

  private constructor(path: string, labels: Map<string, SavedLabel>) {
    this.path = path;
    this.#labels = labels;
  }

  /** Reads the labels of a file, which may be missing. */
  static async open(path: string): Promise<LabelFile> {
    const text = existsSync(path)
      ? await readTextFile(path, "Name another file with --labels.")
      : "";
    const labels = new Map<string, SavedLabel>();
    for (const [index, line] of text.split("\n").entries()) {
      if (line.trim() === "") continue;
      const label = parseLabel(line, `line ${index + 1} of ${path}`);
      labels.set(keyOf(label.question, label.id), label);
    }
    return new LabelFile(path, labels);
  }

  /** Returns the label of a record; also null after a skip, so that it is shown again. */
  truthOf(question: string, id: string): SavedLabel["truth"] {
    return this.#labels.get(keyOf(question, id))?.truth ?? null;
  }

  /** Sets drawn labels to the weights of this draw; labels without a weight were not drawn. */
  reweigh(question: string, records: readonly { id: string; weight: number }[]): void {
    for (const { id, weight } of records) {
      const label = this.#labels.get(keyOf(question, id));
      if (label?.weight !== undefined) label.weight = weight;
    }
  }

  /** Saves a label to the disk. @throws CliError if that fails. */
  async save(label: SavedLabel & { question: string }): Promise<void> {
    this.#labels.set(keyOf(label.question, label.id), label);
    // One after the other; a failed write does not fail the next one.
    this.#saved = this.#saved.catch(() => undefined).then(() => this.#write());
    await this.#saved;
  }

  async #write(): Promise<void> {
    const lines = [...this.#labels.values()].map((label) => `${JSON.stringify(label)}\n`);
    await writePrivateFile(this.path, lines).catch((error: unknown) => {
      throw toFileError(error, `write ${this.path}`, "Make room there and label the record again.");
    });
  }
}

function keyOf(question: string | undefined, id: string): string {
  return JSON.stringify([question ?? null, id]);
}

function parseLabel(line: string, where: string): SavedLabel {
  try {
    return labelSchema.parse(JSON.parse(line));
  } catch (error) {
    const problem = printable`${where} is no label`;
    const advice = "mend it, or name another file with --labels";
    throw new CliError(`${problem} ({ id, question, truth }); ${advice}.`, { cause: error });
  }
}
