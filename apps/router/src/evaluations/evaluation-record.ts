import type { EvaluatorError, Question, Questions } from "evaluator-client";
import { mapEntries } from "./systemone-form.ts";
import type { Answered, AskedEvaluation, EvaluationForm } from "./evaluation-form.ts";

/** One call of typed questions in the decision log: ids, kinds, times and costs. */
export type EvaluationRecord = ReturnType<typeof toEvaluationRecord>;

/** How a call ended. */
export interface EvaluationEnd {
  readonly outcome: "answered" | "refused" | "failed" | "stopped";
  readonly failure?: unknown;
  /** The service that answered first, else the one that was asked last. */
  readonly service: string;
  readonly answered: Answered | null;
  readonly wire: string | null;
  readonly attempts: number;
  readonly ms: number;
  /** Whether another call had bought the answer. */
  readonly isCached: boolean;
  /** US dollars, with those of lost answers; null if unknown. */
  readonly costUsd: number | null;
  /** The answers that each service gave in the end, and its cost, if a second one may be asked. */
  readonly steps: readonly {
    readonly service: string;
    /** The model that it was asked for. */
    readonly model: string;
    readonly answers: number;
    readonly costUsd: number | null;
  }[];
}

interface RecordedCall
  extends Pick<EvaluationForm, "endpoint">, Pick<AskedEvaluation, "model" | "request"> {
  readonly requestId: string;
  readonly key: { readonly name: string } | null;
}

/** The most questions that a record names, and the longest part of an id. */
const MOST_QUESTIONS = 100;
const LONGEST_ID = 64;

/** Returns the record of a call; it has the state and the answers only if texts may be logged. */
export function toEvaluationRecord(
  { instance, hasText }: { readonly instance: string; readonly hasText: boolean },
  recordedCall: RecordedCall,
  evaluationEnd: EvaluationEnd,
) {
  const { request, requestId, endpoint, key, model } = recordedCall;
  const {
    outcome,
    failure,
    answered: answeredEvaluation,
    service,
    wire,
    attempts,
    ms,
    isCached,
    costUsd,
  } = evaluationEnd;
  const route = answeredEvaluation?.route ?? null;
  return {
    time: new Date().toISOString(),
    instance,
    requestId,
    endpoint,
    /** The name of the client's key; null if the router asks for none. */
    key: key && key.name,
    outcome,
    /** The error's name, such as `TimeoutError`. */
    failure: failure instanceof Error ? failure.name : null,
    /** The rule that the service's answer broke. */
    rule: findRule(failure),
    service,
    /** The model that the client named, and the one that answered. */
    askedModel: model && model.slice(0, 256),
    model: answeredEvaluation?.model ?? null,
    /** The service's address, marked if the emulator answered; null without an answer. */
    wire,
    /** The kinds of the questions by their ids, the beginning of both. */
    questions: listKinds(request.questions),
    questionCount: Object.keys(request.questions).length,
    inputTokens: answeredEvaluation?.usage?.inputTokens ?? null,
    outputTokens: answeredEvaluation?.usage?.outputTokens ?? null,
    evaluationUsd: costUsd,
    evaluationMs: ms,
    attempts,
    isCached,
    ...(route !== null && { route: findStart(route), steps: evaluationEnd.steps }),
    ...(hasText && { state: request.state, answers: answeredEvaluation?.answers ?? null }),
  };
}

function findRule(failure: unknown): string | null {
  const { rule } = Object(failure) as Partial<EvaluatorError & { rule: unknown }>;
  return typeof rule === "string" ? rule : null;
}

function listKinds(questions: Questions): Readonly<Record<string, Question["type"]>> {
  return mapEntries(findStart(questions), ({ type }) => type);
}

/** Returns the first entries of a record by question, with the beginnings of the ids. */
function findStart<TValue>(byQuestion: Readonly<Record<string, TValue>>): Record<string, TValue> {
  const firstEntries = Object.entries(byQuestion).slice(0, MOST_QUESTIONS);
  return Object.fromEntries(firstEntries.map(([id, value]) => [id.slice(0, LONGEST_ID), value]));
}
