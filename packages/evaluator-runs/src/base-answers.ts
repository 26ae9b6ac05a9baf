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
  const keyOf = (state: string) => callKey(setup.hash, state);
  for (const other of others.toReversed()) {
    const found = new Map<string, ReturnType<typeof toValues>>();
    let isBase = true;
    for await (const { state, evaluation } of runs.rows(other.run)) {
      isBase = !source.hasAdditions(JSON.parse(state) as JsonObject);
      if (!isBase) break;
      const kept = evaluation === null ? null : fromKeptText(evaluation, questions);
      if (kept !== null) found.set(keyOf(state), toValues(kept.answers, questions));
    }
    if (isBase) return (state) => found.get(keyOf(JSON.stringify(state))) ?? null;
  }
  return () => null;
}
