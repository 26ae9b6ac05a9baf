import { hash } from "node:crypto";
import { checkAnswers, type Evaluation, EvaluatorError, type Questions } from "evaluator-client";
import type { Service } from "../service.ts";

/** What all calls of a run have in common. */
export interface CallSetup {
  readonly questions: Questions;
  /** Who answers. */
  readonly service: Service;
}

/** Returns the hash of questions, model and wire. */
export function setupHash({ questions, service }: CallSetup): string {
  // The order of keys is input to the model (contract section 2.1), so it counts here as well.
  return hash("sha256", JSON.stringify([service.wire, service.modelId, questions]), "base64url");
}

/**
 * Returns the name an answer is kept under: a hash of state, questions, model and wire.
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

/** Writes an evaluation as the text that is kept. */
export function toKeptText(evaluation: Evaluation): string {
  return JSON.stringify({ ...evaluation, raw: undefined });
}

/** Reads kept text back; null when it does not answer the questions. */
export function fromKeptText(text: string, questions: Questions): KeptEvaluation | null {
  const kept = JSON.parse(text) as KeptEvaluation;
  try {
    checkAnswers({ questions, answers: kept.answers, rounding: kept.rounding });
    return kept;
  } catch (error) {
    if (error instanceof EvaluatorError) return null;
    throw error;
  }
}
