import { TriageError } from "../errors.ts";
import { mailSchema, type Mail } from "./mail.ts";
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
  const problems = [...findProblems(input)];
  if (problems.length > 0) throw new TriageError(listProblems(problems));
  return input.map((record) => mailSchema.parse(record));
}

function* findProblems(records: readonly unknown[]): Generator<string> {
  const firstIndexes = new Map<string, number>();
  for (const [index, record] of records.entries()) {
    const label = recordLabel(index, record);
    for (const problem of fieldProblems(record)) yield `${label}: ${problem}`;
    const id = recordId(record);
    const first = id === null ? undefined : firstIndexes.get(id);
    if (first !== undefined) yield `${label}: ${repeatedId(first)}`;
    else if (id !== null) firstIndexes.set(id, index);
  }
}

function fieldProblems(record: unknown): string[] {
  const issues = mailSchema.safeParse(record).error?.issues ?? [];
  return issues.map(({ path, message }) => [...path, message].join(" "));
}

function repeatedId(firstIndex: number): string {
  return `id is also that of the record at index ${firstIndex}; give every record an id of its own`;
}

function listProblems(problems: readonly string[]): string {
  const lines = problems.slice(0, problemsShown);
  if (problems.length > problemsShown) lines.push(`and ${problems.length - problemsShown} more`);
  return lines.join("\n  ");
}
