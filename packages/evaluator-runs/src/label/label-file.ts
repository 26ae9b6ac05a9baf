import { existsSync } from "node:fs";
import { CliError, printable, toFileError, readTextFile } from "evaluator-kit";
import { z } from "zod";
import { writeMailFile } from "../output/write-records.ts";

const truthSchema = z.union([z.boolean(), z.string(), z.number()]);
const labelSchema = z.looseObject({
  id: z.string(),
  question: z.string().optional(),
  /** Null for a record that was skipped. */
  truth: truthSchema.nullable(),
  skipped: z.boolean().optional(),
  weight: z.number().positive().optional(),
});

/** What a person said is so: yes or no, the name of an option, or the index of a level. */
export type Truth = z.infer<typeof truthSchema>;
/** One line of a file of labels; fields that others wrote are kept. */
export type SavedLabel = z.infer<typeof labelSchema>;

/** Labels in a file, one JSON object a line, which `evaluator calibrate` reads. */
export class LabelFile {
  readonly path: string;
  readonly #labels: Map<string, SavedLabel>;
  #saved: Promise<void> = Promise.resolve();

  private constructor(path: string, labels: Map<string, SavedLabel>) {
    this.path = path;
    this.#labels = labels;
  }

  /**
   * Reads the labels that are there; none when there is no file yet.
   *
   * @throws CliError that names the line which is no label.
   */
  static async open(path: string): Promise<LabelFile> {
    const text = existsSync(path) ? await readText(path) : "";
    const labels = new Map<string, SavedLabel>();
    for (const [index, line] of text.split("\n").entries()) {
      if (line.trim() === "") continue;
      const label = parseLabel(line, `line ${index + 1} of ${path}`);
      labels.set(keyOf(label.question, label.id), label);
    }
    return new LabelFile(path, labels);
  }

  /** Returns the label of a record; null for a skip too, so that it is shown again. */
  truthOf(question: string, id: string): Truth | null {
    return this.#labels.get(keyOf(question, id))?.truth ?? null;
  }

  /** Sets drawn labels to the weight of today's draw; labels without a weight were not drawn. */
  reweigh(question: string, records: readonly { id: string; weight: number }[]): void {
    for (const { id, weight } of records) {
      const label = this.#labels.get(keyOf(question, id));
      if (label?.weight !== undefined) label.weight = weight;
    }
  }

  /** Keeps a label; it is on the disk when this returns. @throws CliError when it cannot be. */
  async save(label: SavedLabel & { question: string }): Promise<void> {
    this.#labels.set(keyOf(label.question, label.id), label);
    // One after the other; a write that failed does not fail the next.
    this.#saved = this.#saved.catch(() => undefined).then(() => this.#write());
    await this.#saved;
  }

  async #write(): Promise<void> {
    const lines = [...this.#labels.values()].map((label) => `${JSON.stringify(label)}\n`);
    await writeMailFile(this.path, lines).catch((error: unknown) => {
      throw toFileError(error, `write ${this.path}`, "Make room there and label the record again.");
    });
  }
}

function keyOf(question: string | undefined, id: string): string {
  return JSON.stringify([question ?? null, id]);
}

async function readText(path: string): Promise<string> {
  return await readTextFile(path, "Name another file with --labels.");
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
