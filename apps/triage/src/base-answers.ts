import { hash } from "node:crypto";
import type { Answer, Questions } from "evaluator-client";
import type { PostgresRuns, RunInfo } from "evaluator-postgres";
import { type Mail, stateFields, toState } from "./input/mail.ts";
import type { JournalReader } from "./journal/journal-reader.ts";
import { callKey, fromKeptText, type KeptEvaluation, setupHash } from "./journal/kept-answer.ts";
import type { BegunRun } from "./journal/run-facts.ts";
import { answerValue } from "./output/triage-record.ts";
import { contextKeys } from "./state.ts";

/** What an answer comes to: an option, a mean level or a probability, by question. */
export type AnswerValues = Readonly<Record<string, string | number | null>>;

/** Returns what was answered about the contract's four fields of a mail alone; null for nothing. */
export type BaseAnswers = (mail: Mail) => AnswerValues | null;

const addedKeys: readonly string[] = [...contextKeys, ...stateFields];

/** Returns what a model read of a mail beside the contract's four fields. */
export function addedTo(
  state: Readonly<Record<string, unknown>>,
): readonly (readonly [key: string, value: unknown])[] {
  const keys = addedKeys.filter((key) => state[key] !== undefined);
  return keys.map((key) => [key, state[key]]);
}

/** Returns answers as what they come to. */
export function toValues(answers: Readonly<Record<string, Answer>>): AnswerValues {
  const entries = Object.entries(answers).map(([id, answer]) => [id, answerValue(answer)]);
  return Object.fromEntries(entries) as AnswerValues;
}

/** Finds the answers without additions of a journal file, which keeps those of all runs. */
export function baseAnswersOfFile(
  journal: JournalReader,
  { questions, service }: Pick<BegunRun, "questions" | "service">,
): BaseAnswers {
  const setup = setupHash({ questions, service });
  return (mail) => {
    const kept = journal.answer(callKey(setup, JSON.stringify(toState(mail))), questions);
    return kept === null ? null : toValues(kept.answers);
  };
}

/** Finds the answers without additions of the newest other run over a file of the same name that asked the same. */
export async function baseAnswersOfDatabase(
  runs: PostgresRuns,
  { run, name, setup }: RunInfo,
): Promise<BaseAnswers> {
  const questions = JSON.parse(setup.questions) as Questions;
  const others = (await runs.list()).filter(
    (other) => other.run !== run && other.name === name && other.setup.hash === setup.hash,
  );
  for (const other of others.toReversed()) {
    const found = await readBase(runs, other.run, questions);
    if (found !== null) return (mail) => found.get(digestOf(JSON.stringify(toState(mail)))) ?? null;
  }
  return () => null;
}

/** Returns the answers of a run by a digest of their state; null where a state has more than the four. */
async function readBase(
  runs: PostgresRuns,
  run: number,
  questions: Questions,
): Promise<Map<string, AnswerValues> | null> {
  const found = new Map<string, AnswerValues>();
  for await (const { state, evaluation } of runs.rows(run)) {
    if (addedTo(JSON.parse(state) as Record<string, unknown>).length > 0) return null;
    const kept: KeptEvaluation | null =
      evaluation === null ? null : fromKeptText(evaluation, questions);
    if (kept !== null) found.set(digestOf(state), toValues(kept.answers));
  }
  return found;
}

function digestOf(state: string): string {
  return hash("sha256", state, "base64url");
}
