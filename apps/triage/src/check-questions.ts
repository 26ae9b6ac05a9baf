import { resolve } from "node:path";
import { printable } from "evaluator-kit";
import { alignColumns, columnsOf, printCounted, readQuestions } from "evaluator-runs/source";
import type { ProgramContext } from "evaluator-runs/commands";

/** Prints the questions of a file with the result fields of each; an error lists all problems. */
export async function checkQuestions(file: string, { cwd, stdout, source }: ProgramContext) {
  const questions = await readQuestions(resolve(cwd, file), source);
  const columns = columnsOf(questions);
  const rows = Object.entries(questions).map(([id, { type }]) => {
    const names = columns
      .filter(({ asked: question }) => question.id === id)
      .map(({ name }) => name);
    return [id, type, names.join(", ")];
  });
  const header = ["question", "type", "fields of the results"];
  const table = [header, ...rows].map((row) => row.map((cell) => printable`${cell}`));
  stdout.write([...alignColumns(() => table)].join(""));
  stdout.write(printable`${file} can be asked: ${printCounted(rows.length, "question")}.\n`);
  return 0;
}
