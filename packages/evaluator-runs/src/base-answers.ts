import { hash } from "node:crypto";
import type { Answer, JsonObject, Questions } from "evaluator-client";
import type { PostgresRuns, RunInfo } from "./postgres/index.ts";
import type { RecordSource } from "./input/record-source.ts";
import type { JournalReader } from "./journal/journal-reader.ts";
import { callKey, fromKeptText, type KeptEvaluation, setupHash } from "./journal/kept-answer.ts";
import type { BegunRun } from "./journal/run-facts.ts";
import { askedQuestions, shortValue } from "./columns/columns.ts";

/** What an answer comes to: an option, a mean level or a probability, by question. */
export type AnswerValues = Readonly<Record<string, string | number | null>>;

/** Returns what was answered about a state without additions; null for nothing. */
export type BaseAnswers = (state: JsonObject) => AnswerValues | null;

/** Returns answers as what they come to. */
export function toValues(
  answers: Readonly<Record<string, Answer>>,
  questions: Questions,
): AnswerValues {
  const asked = askedQuestions(questions);
  return Object.fromEntries(asked.map((one) => [one.id, shortValue(one, answers[one.id])]));
}

/** Finds the answers without additions of a journal file, which keeps those of all runs. */
export function baseAnswersOfFile(
  journal: JournalReader,
  { questions, service }: Pick<BegunRun, "questions" | "service">,
): BaseAnswers {
  const setup = setupHash({ questions, service });
  return (state) => {
    const kept = journal.answer(callKey(setup, JSON.stringify(state)), questions);
    return kept === null ? null : toValues(kept.answers, questions);
  };
}

/** Finds the answers without additions of the newest other run over a file of the same name that asked the same. */
export async function baseAnswersOfDatabase(
  runs: PostgresRuns,
  { run, name, setup }: RunInfo,
  source: RecordSource,
): Promise<BaseAnswers> {
  const questions = JSON.parse(setup.questions) as Questions;
  const others = (await runs.list()).filter(
    (other) => other.run !== run && other.name === name && other.setup.hash === setup.hash,
  );
  for (const other of others.toReversed()) {
    const found = await readBase(runs, other.run, { questions, source });
    if (found !== null) return (state) => found.get(digestOf(JSON.stringify(state))) ?? null;
  }
  return () => null;
}

/** Returns the answers of a run by a digest of their state; null if a state has additions. */
async function readBase(
  runs: PostgresRuns,
  run: number,
  { questions, source }: { readonly questions: Questions; readonly source: RecordSource },
): Promise<Map<string, AnswerValues> | null> {
  const found = new Map<string, AnswerValues>();
  for await (const { state, evaluation } of runs.rows(run)) {
    if (source.hasAdditions(JSON.parse(state) as JsonObject)) return null;
    const kept: KeptEvaluation | null =
      evaluation === null ? null : fromKeptText(evaluation, questions);
    if (kept !== null) found.set(digestOf(state), toValues(kept.answers, questions));
  }
  return found;
}

function digestOf(state: string): string {
  return hash("sha256", state, "base64url");
}
