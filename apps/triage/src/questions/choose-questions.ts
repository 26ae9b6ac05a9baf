import { resolve } from "node:path";
import type { Questions } from "evaluator-client";
import type { TriageRun } from "../arguments/run-arguments.ts";
import type { Surroundings } from "../surroundings.ts";
import { triageQuestions } from "../triage-questions.ts";
import { readQuestions } from "./read-questions.ts";

/** Gives the questions of a run: those of the file it names, else the contract's. */
export async function chooseQuestions(
  run: TriageRun,
  { cwd, env }: Surroundings,
): Promise<Questions> {
  if (run.questions !== null) return await readQuestions(resolve(cwd, run.questions));
  return triageQuestions(env["TRIAGE_USER_NAME"]?.trim() || "the user");
}
