import { TriageError } from "../errors.ts";
import { type Mail, mailSchema } from "./mail.ts";
import { recordId } from "./record-id.ts";
import { recordLabel } from "./record-label.ts";

const problemsShown = 10;

/**
 * Gives the mails of a parsed input file, in order.
 *
 * @throws TriageError that lists what is wrong by record and field, ten problems at most.
 */
export function parseMails(input: unknown): Mail[] {
  if (!Array.isArray(input)) {
    throw new TriageError("it is not a JSON array; put the records between [ and ]");
  }
  const mails: Mail[] = [];
  const problems = new Problems();
  for (const [index, record] of input.entries()) {
    const { data, error } = mailSchema.safeParse(record);
    if (data !== undefined) mails.push(data);
    for (const { path, message } of error?.issues ?? []) {
      problems.add(index, record, [...path, message].join(" "));
    }
    problems.checkId(index, record);
  }
  problems.throwIfAny();
  return mails;
}

/** What is wrong with the records of a file. */
class Problems {
  readonly #shown: string[] = [];
  #more = 0;
  readonly #firstIndexes = new Map<string, number>();

  add(index: number, record: unknown, problem: string): void {
    if (this.#shown.length === problemsShown) this.#more += 1;
    else this.#shown.push(`${recordLabel(index, record)}: ${problem}`);
  }

  /** Notes the id of a record, which no other may have. */
  checkId(index: number, record: unknown): void {
    const id = recordId(record);
    if (id === null) return;
    const first = this.#firstIndexes.get(id);
    if (first === undefined) this.#firstIndexes.set(id, index);
    else this.add(index, record, repeatedId(first));
  }

  throwIfAny(): void {
    if (this.#shown.length === 0) return;
    const more = this.#more === 0 ? [] : [`and ${this.#more} more`];
    throw new TriageError([...this.#shown, ...more].join("\n  "));
  }
}

function repeatedId(firstIndex: number): string {
  return `id is also that of the record at index ${firstIndex}; give every record an id of its own`;
}
