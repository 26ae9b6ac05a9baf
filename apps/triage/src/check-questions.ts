import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { printable } from "evaluator-kit";
import { estimateTokens } from "evaluator-client";
import {
  alignColumns,
  answerFields,
  printCount,
  printCounted,
  readQuestions,
} from "evaluator-runs/source";
import type { QuestionsCommand, ProgramContext } from "evaluator-runs/commands";

const schemaFile = new URL("../questions.schema.json", import.meta.url);

/**
 * Prints what a questions file asks and what that gives, or the schema that an editor completes one
 * with; returns the exit code 0.
 *
 * @throws CliError that says what is wrong with the file, and where.
 */
export async function checkQuestions(
  { file }: QuestionsCommand,
  { cwd, stdout, source }: ProgramContext,
): Promise<number> {
  if (file === null) {
    stdout.write(await readFile(schemaFile, "utf8"));
    return 0;
  }
  const questions = await readQuestions(resolve(cwd, file), source);
  const rows = answerFields(questions).map(({ questionId, type, field, confidenceField }) => [
    questionId,
    type,
    [field, confidenceField].filter((name) => name !== null).join(", "),
  ]);
  const tokens = estimateTokens({ state: {}, questions });
  const header = ["question", "type", "fields of the results"];
  const table = [header, ...rows].map((row) => row.map((cell) => printable`${cell}`));
  stdout.write([...alignColumns(() => table)].join(""));
  stdout.write(
    printable`${file} can be asked: ${printCounted(rows.length, "question")}, about ${printCount(tokens)} tokens a mail beside the mail itself.\n`,
  );
  return 0;
}
