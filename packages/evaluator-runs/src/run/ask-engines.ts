import {
  createEvaluator,
  type EvaluationRequest,
  EvaluatorError,
  type EvaluatorOptions,
  type EvaluatorRuntime,
  type Transport,
} from "evaluator-client";
import { escalate, type Helper } from "evaluator-client/escalate";
import { toFailure } from "../call-failure.ts";
import type { CallCost } from "../money/budget.ts";
import type { NextEngine } from "../next-engine.ts";
import { toService } from "../service.ts";
import { type AskOptions, type CallOutcome, endsRun, evaluateOne } from "./evaluate-one.ts";

/** The engine of a run, and the one that is asked again for unsure answers. */
export interface AskedEngines {
  readonly transport: Transport;
  /** @default none */
  readonly next?: NextEngine | null;
}

type EngineOptions = Omit<EvaluatorOptions, "transport">;

/** Asks the engines of a run. */
export interface AskEngines {
  /** Asks about one record, within what its call may cost. */
  ask(
    request: EvaluationRequest,
    cost: Pick<CallCost, "middleware">,
    options: AskOptions,
  ): Promise<CallOutcome>;
  /**
   * The calls that may be in flight. Until the next engine has answered, they begin with one and each that ends
   * adds one: if its key is wrong, the unsure answers in flight were paid for and are lost.
   */
  readonly mostCalls: number;
}

/**
 * Returns what asks an engine, and the next one for unsure answers.
 *
 * @param own - The options of the engine, and of the next one.
 */
export function askEngines(
  { transport, next = null }: AskedEngines,
  [ownOptions, nextOptions]: readonly [EngineOptions, EngineOptions],
  runtime: EvaluatorRuntime,
): AskEngines {
  const evaluator = createEvaluator({ transport, ...ownOptions }, runtime);
  if (next === null)
    return {
      ask: (request, { middleware }, options) =>
        evaluateOne(evaluator.with(middleware), request, options),
      mostCalls: Infinity,
    };
  const nextEvaluator = createEvaluator({ transport: next.transport, ...nextOptions }, runtime);
  // The error with which each call of the next engine would fail.
  let finalError: EvaluatorError | null = null;
  let mostCalls = 1;
  const nextHelper: Helper = {
    evaluate: async (...helperCall) => {
      try {
        const evaluation = await nextEvaluator.evaluate(...helperCall);
        mostCalls = Infinity;
        return evaluation;
      } catch (error) {
        if (error instanceof EvaluatorError && endsRun(error)) finalError ??= error;
        throw error;
      }
    },
  };
  const both = evaluator.with(escalate(nextHelper, next.bounds, { nextBounds: next.nextBounds }));
  return {
    async ask(request, { middleware }, options) {
      const callOutcome = await evaluateOne(both.with(middleware), request, options);
      mostCalls += 1;
      return withoutUnasked(callOutcome, finalError);
    },
    get mostCalls() {
      return mostCalls;
    },
  };
}

/** Returns a failure for an answer that the next engine could not be asked about again, so that a later run asks. */
function withoutUnasked(callOutcome: CallOutcome, cause: EvaluatorError | null): CallOutcome {
  if ("error" in callOutcome || cause === null) return callOutcome;
  const { route = {} } = callOutcome.evaluation;
  const isUnasked = Object.values(route).some(({ failure }) => failure !== null);
  return isUnasked ? { ...toFailure(cause), paid: callOutcome.evaluation } : callOutcome;
}

/** Returns the names of both engines of a run; null of one alone. */
export function engineNames({ transport, next }: AskedEngines): string[] | null {
  if (next == null) return null;
  return [transport, next.transport].map((one) => `${one.name} ${toService(one).modelId}`);
}
