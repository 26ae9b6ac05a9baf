import { hash } from "node:crypto";
import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { checkAnswers, type Evaluation, EvaluatorError, type Questions } from "evaluator-client";
import type { Service } from "../service.ts";
import { toJournalError } from "./open-journal.ts";

/** What all calls of a run have in common. */
export interface CallSetup {
  readonly questions: Questions;
  /** Who answers. */
  readonly service: Service;
}

/** Returns the hash of questions, model and address. */
export function setupHash({ questions, service }: CallSetup): string {
  // The order of keys is input to the model (contract section 2.1), so it counts here as well.
  return hash("sha256", JSON.stringify([service.address, service.modelId, questions]), "base64url");
}

/**
 * Returns the name an answer is kept under: a hash of state, questions, model and address.
 *
 * @param setup - The hash of what all calls of the run have in common.
 * @param state - The state as JSON.
 */
export function callKey(setup: string, state: string): string {
  return hash("sha256", `${setup}\n${state}`, "base64url");
}

/** Returns the name for a later record with the same state; each has its own call. */
export function repeatedKey(key: string, repeat: number): string {
  return repeat === 0 ? key : `${key}#${repeat}`;
}

/** Returns whether a key is that of a state under a setup, whichever repeat it is. */
export function isKeyOf(key: string, setup: string, state: string): boolean {
  return key.split("#", 1).join("") === callKey(setup, state);
}

/** The parts of a kept answer; the last two are JSON, so none has a line break. */
export interface KeptTexts {
  readonly key: string;
  readonly state: string;
  readonly evaluation: string;
}

/** Returns the digest that shows whether what is kept is still as it was written. */
export function digestOf({ key, state, evaluation }: KeptTexts): string {
  return hash("sha256", `${key}\n${state}\n${evaluation}`, "base64url");
}

/** Returns whether a row of the journal is still as it was written. */
export function isAsWritten({ key, state, evaluation, digest }: Record<string, unknown>): boolean {
  const texts = { key: String(key), state: String(state), evaluation: String(evaluation) };
  return digestOf(texts) === digest;
}

/** An evaluation as the journal keeps it: all but the body as it came. */
export type KeptEvaluation<TQuestions extends Questions = Questions> = Omit<
  Evaluation<TQuestions>,
  "raw"
>;

/** Writes an evaluation as the text that is kept: first what every reader of results wants. */
export function toKeptText(evaluation: Evaluation): string {
  const { answers, rounding, confidence, modelId } = evaluation;
  const first = { answers, rounding, confidence, modelId };
  return JSON.stringify({ ...first, ...evaluation, raw: undefined });
}

/** Reads back kept text that is known to answer what was asked. */
export function readKeptText(text: string): KeptEvaluation {
  return firstOf(text) ?? (JSON.parse(text) as KeptEvaluation);
}

/** Reads kept text back; null when it does not answer the questions. */
export function fromKeptText(text: string, questions: Questions): KeptEvaluation | null {
  const kept = readKeptText(text);
  try {
    checkAnswers({ questions, answers: kept.answers, rounding: kept.rounding });
    return kept;
  } catch (error) {
    if (error instanceof EvaluatorError) return null;
    throw error;
  }
}

type FirstOfKept = Pick<KeptEvaluation, "answers" | "rounding" | "confidence" | "modelId">;

const SECOND = ',"usage":{"inputTokens":';

/** Returns what was kept of which only the beginning is read; null where it begins otherwise. */
function firstOf(text: string): KeptEvaluation | null {
  const end = text.indexOf(SECOND);
  if (end === -1) return null;
  try {
    // Only between two fields of the outermost object can one brace end what came before.
    const first = JSON.parse(`${text.slice(0, end)}}`) as Partial<FirstOfKept>;
    const { answers, rounding, confidence, modelId } = first;
    if (answers === undefined || rounding === undefined) return null;
    if (confidence === undefined || modelId === undefined) return null;
    return new KeptText(text, { answers, rounding, confidence, modelId });
  } catch {
    return null;
  }
}

/** What was kept, of which the rest is read when somebody wants it: it is two thirds of the text. */
class KeptText implements KeptEvaluation {
  readonly answers: KeptEvaluation["answers"];
  readonly rounding: KeptEvaluation["rounding"];
  readonly confidence: KeptEvaluation["confidence"];
  readonly modelId: KeptEvaluation["modelId"];
  readonly #text: string;
  #rest: KeptEvaluation | null = null;

  constructor(text: string, { answers, rounding, confidence, modelId }: FirstOfKept) {
    this.answers = answers;
    this.rounding = rounding;
    this.confidence = confidence;
    this.modelId = modelId;
    this.#text = text;
  }

  get usage() {
    return this.#all.usage;
  }
  get warnings() {
    return this.#all.warnings;
  }
  get providerMetadata() {
    return this.#all.providerMetadata;
  }
  get costUsd() {
    return this.#all.costUsd;
  }
  get transport() {
    return this.#all.transport;
  }
  get requestId() {
    return this.#all.requestId;
  }
  get headers() {
    return this.#all.headers;
  }
  get timing() {
    return this.#all.timing;
  }

  get #all(): KeptEvaluation {
    return (this.#rest ??= JSON.parse(this.#text) as KeptEvaluation);
  }
}

/** What is known of an answer that is wanted; one that is refused is not asked for again. */
export type CallStatus = "answered" | "refused" | "begun" | "changed" | "unknown";

const byKey =
  "SELECT key, state, evaluation, digest FROM calls JOIN answers USING (call) WHERE key = ?";
const openByKey =
  "SELECT begun.call AS begun, refusals.call AS refused FROM calls " +
  "LEFT JOIN begun USING (call) LEFT JOIN refusals USING (call) WHERE key = ?";

/** Looks up the answers of a journal by their keys; a CliError says when it is damaged. */
export class KeptAnswers {
  protected readonly path: string;
  protected readonly database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  /** @param database - Of the journal at the path; whoever opened it closes it. */
  constructor(path: string, database: DatabaseSync) {
    this.path = path;
    this.database = database;
  }

  /** Returns for each answer whether it is there as it was written, and if not, whether it was asked for. */
  statusesOf(keys: readonly string[]): CallStatus[] {
    return keys.map((key) => this.#statusOf(key));
  }

  /** Returns a kept answer to the questions; null when it is not there as it was written. */
  answer(key: string, questions: Questions): KeptEvaluation | null {
    const [row] = this.all(byKey, key);
    if (row === undefined || !isAsWritten(row)) return null;
    return fromKeptText(String(row["evaluation"]), questions);
  }

  #statusOf(key: string): CallStatus {
    const [row] = this.all(byKey, key);
    if (row !== undefined) return isAsWritten(row) ? "answered" : "changed";
    const [open] = this.all(openByKey, key);
    if (open?.["refused"] != null) return "refused";
    return open?.["begun"] == null ? "unknown" : "begun";
  }

  /** Returns the rows of a query, which is prepared once. */
  protected all(sql: string, ...values: string[]): Record<string, unknown>[] {
    try {
      return this.#prepare(sql).all(...values);
    } catch (error) {
      throw toJournalError(error, this.path);
    }
  }

  /** Returns the rows of a query one by one. */
  protected *iterate(sql: string): Generator<Record<string, SQLOutputValue>> {
    try {
      yield* this.#prepare(sql).iterate();
    } catch (error) {
      throw toJournalError(error, this.path);
    }
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}
