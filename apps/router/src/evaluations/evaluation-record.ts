import type { EvaluatorError, Question, Questions } from "evaluator-client";
import type { Answered, AskedEvaluation, EvaluationForm } from "./evaluation-form.ts";

/** One call of typed questions in the decision log: ids, kinds, times and costs. */
export type EvaluationRecord = ReturnType<typeof toEvaluationRecord>;

/** How a call ended. */
export interface EvaluationEnd {
  readonly outcome: "answered" | "refused" | "failed" | "stopped";
  readonly failure?: unknown;
  /** The service that was asked last. */
  readonly service: string;
  readonly answered: Answered | null;
  readonly wire: string | null;
  readonly attempts: number;
  readonly ms: number;
  /** Whether another call had bought the answer. */
  readonly isCached: boolean;
  /** US dollars, with those of lost answers; null if unknown. */
  readonly costUsd: number | null;
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
  call: RecordedCall,
  end: EvaluationEnd,
) {
  const { request, requestId, endpoint, key, model } = call;
  const { outcome, failure, answered, service, wire, attempts, ms, isCached, costUsd } = end;
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
    rule: ruleOf(failure),
    service,
    /** The model that the client named, and the one that answered. */
    askedModel: model && model.slice(0, 256),
    model: answered?.model ?? null,
    /** The service's address, marked if the emulator answered; null without an answer. */
    wire,
    /** The kinds of the questions by their ids, the beginning of both. */
    questions: kindsOf(request.questions),
    questionCount: Object.keys(request.questions).length,
    inputTokens: answered?.usage?.inputTokens ?? null,
    outputTokens: answered?.usage?.outputTokens ?? null,
    evaluationUsd: costUsd,
    evaluationMs: ms,
    attempts,
    isCached,
    ...(hasText && { state: request.state, answers: answered?.answers ?? null }),
  };
}

function ruleOf(failure: unknown): string | null {
  const { rule } = Object(failure) as Partial<EvaluatorError & { rule: unknown }>;
  return typeof rule === "string" ? rule : null;
}

function kindsOf(questions: Questions): Readonly<Record<string, Question["type"]>> {
  const first = Object.entries(questions).slice(0, MOST_QUESTIONS);
  return Object.fromEntries(first.map(([id, { type }]) => [id.slice(0, LONGEST_ID), type]));
}
