import { resolve } from "node:path";
import { type CliContext, CliError, printable, readTextFile, parseJson } from "evaluator-cli-kit";
import { type Questions, questionSchema } from "evaluator-client";
import { z } from "zod";
import { answerFields } from "./answer-fields.ts";
import { triageQuestions } from "./triage-questions.ts";

/** Reads the questions of a run: those of a file, else the contract's. */
export async function chooseQuestions(
  file: string | null,
  { cwd, env }: Pick<CliContext, "cwd" | "env">,
): Promise<Questions> {
  if (file !== null) return await readQuestions(resolve(cwd, file));
  return triageQuestions(env["TRIAGE_USER_NAME"]?.trim() || "the user");
}

const atLeastOne = (criteria: object) => Object.keys(criteria).length > 0;
const fileSchema = z
  .record(
    z.string().min(1),
    questionSchema.refine(({ criteria }) => criteria === undefined || atLeastOne(criteria), {
      path: ["criteria"],
      message: "is empty; name at least one",
    }),
  )
  .refine(atLeastOne, "holds no question");

const takenFields = new Set(["id", "date", "from", "subject", "error"]);

/**
 * Reads questions from a JSON file: an object of question id to question (contract section 2.2).
 *
 * @throws CliError that says what is wrong with it.
 */
async function readQuestions(path: string): Promise<Questions> {
  const text = await readTextFile(path, "Check the path after --questions.");
  const problems = findProblems(parseJson(text));
  if (typeof problems !== "string") return problems;
  throw new CliError(printable`${path} cannot be used, and nothing was sent:\n  ` + problems);
}

function findProblems(json: unknown): string | Questions {
  const { data, error } = fileSchema.safeParse(json);
  if (error !== undefined) {
    return error.issues
      .map(({ path, message }) => printable`${[...path, message].join(" ")}`)
      .join("\n  ");
  }
  const questions = data as Questions;
  const names = answerFields(questions).flatMap(({ field, confidenceField }) =>
    confidenceField === null ? [field] : [field, confidenceField],
  );
  const clash = names.find((name, at) => takenFields.has(name) || names.indexOf(name) !== at);
  if (clash === undefined) return questions;
  return printable`two things would be written to the field "${clash}"; rename a question`;
}
