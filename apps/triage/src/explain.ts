import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Answer, Question } from "evaluator-client";
import { printCount, printUsd } from "./amounts.ts";
import type { ExplainCommand } from "./arguments/explain-arguments.ts";
import { UsageError } from "./errors.ts";
import { toFileError } from "./file-error.ts";
import { type JournalEntry, readJournal } from "./journal/journal-reader.ts";
import { toJournalPath } from "./output/paths.ts";
import type { Surroundings } from "./surroundings.ts";
import { alignColumns } from "./table.ts";
import { plainText } from "./text/plain-text.ts";

/**
 * Prints all that the journal knows of one mail.
 *
 * @throws TriageError when that is nothing.
 */
export async function explainMail(
  { id, file }: ExplainCommand,
  { cwd, stdout }: Surroundings,
): Promise<number> {
  const path = file === null ? await findJournal(cwd) : toJournalPath(resolve(cwd, file));
  stdout.write(await readJournal(path, (journal) => describeEntry(journal.find(id))));
  return 0;
}

async function findJournal(folder: string): Promise<string> {
  const all = await readdir(folder).catch((error: unknown) => {
    throw toFileError(error, `read ${folder}`, "Name the FILE after the ID.");
  });
  const names = all.filter((name) => name.endsWith(".triage.sqlite"));
  const [name, ...others] = names;
  if (name !== undefined && others.length === 0) return join(folder, name);
  throw new UsageError(`${names.length} journals are in this folder; name the FILE after the ID`);
}

/** Says about one mail what was sent, what was asked, what was answered, by whom and at what price. */
function describeEntry(entry: JournalEntry): string {
  return [
    aligned([["mail", plainText(entry.id)], ...runRows(entry)]),
    `state\n${indented(stateRows(entry))}`,
    ...Object.entries(entry.questions).map(([id, question]) =>
      describeQuestion(id, question, entry),
    ),
  ].join("\n");
}

function runRows({ service: { wire, modelId }, evaluation }: JournalEntry): string[][] {
  const asked = [["asked", `${plainText(modelId)} through ${plainText(wire)}`]];
  if (evaluation === null) return [...asked, ["answer", "not there; run triage again"]];
  const { usage, costUsd, timing } = evaluation;
  const cost = costUsd === null ? "not reported" : printUsd(costUsd);
  return [
    ...asked,
    ["model", plainText(evaluation.modelId ?? "not reported")],
    ["cost", `${cost} for ${printCount(usage.inputTokens)} tokens`],
    ["time", `${printCount(timing.totalMs)} ms`],
    ["attempts", printCount(timing.attempts)],
  ];
}

function stateRows({ state }: JournalEntry): string[][] {
  if (typeof state !== "object" || state === null) return [[plainText(String(state))]];
  return Object.entries(state).map(([key, value]) => [plainText(key), print(value)]);
}

function describeQuestion(id: string, question: Question, { evaluation }: JournalEntry): string {
  const answer = evaluation?.answers[id];
  const confidence = evaluation?.confidence[id];
  const head = `${plainText(id)} (${question.type}): ${plainText(question.instructions)}\n`;
  const said = answer === undefined ? [] : [["answer", summary(answer)]];
  if (question.type !== "boolean") said.push(["confidence", print(confidence ?? "not reported")]);
  return `${head}${indented(said)}${indented(probabilityRows(question, answer))}`;
}

function summary(answer: Answer): string {
  if (answer.type === "choice") return plainText(answer.choice);
  return answer.type === "score" ? print(answer.score) : `yes: ${answer.probability.toFixed(2)}`;
}

function probabilityRows({ type, criteria }: Question, answer: Answer | undefined): string[][] {
  if (type === "boolean" || answer === undefined || answer.type === "boolean") return [];
  return Object.entries(criteria ?? {}).map(([name, text]) => [
    answer.probabilities[name]?.toFixed(2) ?? "-",
    plainText(name),
    plainText(text),
  ]);
}

function indented(rows: readonly string[][]): string {
  return aligned(rows.map((row) => [" ", ...row]));
}

function aligned(rows: readonly string[][]): string {
  return [...alignColumns(() => rows)].join("");
}

function print(value: unknown): string {
  return plainText(typeof value === "string" ? value : JSON.stringify(value));
}
