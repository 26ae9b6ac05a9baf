import { hash } from "node:crypto";
import type { Answer, JsonObject, Questions } from "evaluator-client";
import type { PostgresRuns, RunInfo } from "./postgres/index.ts";
import type { RecordSource } from "./input/record-source.ts";
import type { JournalReader } from "./journal/journal-reader.ts";
import { callKey, type CallSetup, fromKeptText, setupHash } from "./journal/kept-answer.ts";
import { askedQuestions, shortValue } from "./columns/columns.ts";

/** Returns the short values of the answers about a state without additions; null without an answer. */
export type BaseAnswers = (state: JsonObject) => ReturnType<typeof toValues> | null;

/** Returns answers as short values: an option, a mean level or a probability, by question. */
export function toValues(
  answers: Readonly<Record<string, Answer>>,
  questions: Questions,
): Readonly<Record<string, string | number | null>> {
  const asked = askedQuestions(questions);
  return Object.fromEntries(asked.map((one) => [one.id, shortValue(one, answers[one.id])]));
}

/** Finds the answers without additions in a journal file, which keeps those of all runs. */
export function baseAnswersOfFile(
  journal: JournalReader,
  { questions, service }: CallSetup,
): BaseAnswers {
  const setup = setupHash({ questions, service });
  return (state) => {
    const kept = journal.answer(callKey(setup, JSON.stringify(state)), questions);
    return kept === null ? null : toValues(kept.answers, questions);
  };
}

/** Finds them in the newest other run over a file of the same name with the same questions. */
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

// By a digest of their state; null if a state has additions.
async function readBase(
  runs: PostgresRuns,
  run: number,
  { questions, source }: { readonly questions: Questions; readonly source: RecordSource },
) {
  const found = new Map<string, ReturnType<typeof toValues>>();
  for await (const { state, evaluation } of runs.rows(run)) {
    if (source.hasAdditions(JSON.parse(state) as JsonObject)) return null;
    const kept = evaluation === null ? null : fromKeptText(evaluation, questions);
    if (kept !== null) found.set(digestOf(state), toValues(kept.answers, questions));
  }
  return found;
}

function digestOf(state: string): string {
  return hash("sha256", state, "base64url");
}
