import { hash } from "node:crypto";
import { checkAnswers, type Evaluation, EvaluatorError, type Questions } from "evaluator-client";
import type { Service } from "../service.ts";

/** The questions of a run, and the service that answers them. */
export interface CallSetup {
  readonly questions: Questions;
  readonly service: Service;
}

/** Returns the hash of questions, model and address. */
export function setupHash({ questions, service }: CallSetup): string {
  // The order of keys is input to the model (contract section 2.1), so it is part of the hash.
  return sha256(JSON.stringify([service.address, service.modelId, questions]));
}

/** Returns the key of an answer: a hash of the run's setup hash and the state as JSON. */
export function callKey(callSetupHash: string, stateText: string): string {
  return sha256(`${callSetupHash}\n${stateText}`);
}

/** Returns the key of a later record with the same state; each record has its own call. */
export function repeatedKey(firstKey: string, repeatCount: number): string {
  return repeatCount === 0 ? firstKey : `${firstKey}#${repeatCount}`;
}

/** Returns whether a key belongs to a state under a setup, for any repeat. */
export function isKeyOf(keptKey: string, callSetupHash: string, stateText: string): boolean {
  return keptKey.split("#", 1).join("") === callKey(callSetupHash, stateText);
}

/** Returns the digest that detects a changed answer; the last two texts are JSON, so no text has a line break. */
export function toDigest({ key, state, evaluation }: Record<string, unknown>): string {
  return sha256(`${String(key)}\n${String(state)}\n${String(evaluation)}`);
}

/** Returns whether a row of the journal is unchanged since it was written. */
export function isAsWritten(answerRow: Record<string, unknown>): boolean {
  return toDigest(answerRow) === answerRow["digest"];
}

function sha256(hashedText: string): string {
  return hash("sha256", hashedText, "base64url");
}

/** An evaluation as the journal keeps it: without the raw body. */
export type KeptEvaluation = Omit<Evaluation, "raw"> & {
  /** The ids of the questions that the model declined to answer, which have no answer. @default none */
  readonly refused?: readonly string[];
};

/** Writes an evaluation as text. PostgreSQL packs it with older texts as samples, so keep the order of the fields. */
export function toKeptText(evaluation: Evaluation): string {
  const { answers, rounding, confidence, modelId } = evaluation;
  const firstFields = { answers, rounding, confidence, modelId };
  const steps = evaluation.steps?.map((step) => ({ ...step, raw: undefined, headers: {} }));
  return JSON.stringify({ ...firstFields, ...evaluation, raw: undefined, ...(steps && { steps }) });
}

function withoutRefused(
  questions: Questions,
  { refused: refusedNames = [] }: KeptEvaluation,
): Questions {
  if (refusedNames.length === 0) return questions;
  return Object.fromEntries(Object.entries(questions).filter(([id]) => !refusedNames.includes(id)));
}

/** Reads kept text; null if it does not answer the questions. */
export function fromKeptText(keptText: string, questions: Questions): KeptEvaluation | null {
  const keptEvaluation = JSON.parse(keptText) as KeptEvaluation;
  try {
    checkAnswers({ ...keptEvaluation, questions: withoutRefused(questions, keptEvaluation) });
    return keptEvaluation;
  } catch (error) {
    if (error instanceof EvaluatorError) return null;
    throw error;
  }
}
