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
  [own, ofNext]: readonly [EngineOptions, EngineOptions],
  runtime: EvaluatorRuntime,
): AskEngines {
  const evaluator = createEvaluator({ transport, ...own }, runtime);
  if (next === null)
    return {
      ask: (request, { middleware }, options) =>
        evaluateOne(evaluator.with(middleware), request, options),
      mostCalls: Infinity,
    };
  const second = createEvaluator({ transport: next.transport, ...ofNext }, runtime);
  // The error with which each call of the next engine would fail.
  let fatal: EvaluatorError | null = null;
  let mostCalls = 1;
  const helper: Helper = {
    evaluate: async (...call) => {
      try {
        const evaluation = await second.evaluate(...call);
        mostCalls = Infinity;
        return evaluation;
      } catch (error) {
        if (error instanceof EvaluatorError && endsRun(error)) fatal ??= error;
        throw error;
      }
    },
  };
  const both = evaluator.with(escalate(helper, next.bounds, { nextBounds: next.nextBounds }));
  return {
    async ask(request, { middleware }, options) {
      const end = await evaluateOne(both.with(middleware), request, options);
      mostCalls += 1;
      return withoutUnasked(end, fatal);
    },
    get mostCalls() {
      return mostCalls;
    },
  };
}

/** Returns a failure for an answer that the next engine could not be asked about again, so that a later run asks. */
function withoutUnasked(end: CallOutcome, cause: EvaluatorError | null): CallOutcome {
  if ("error" in end || cause === null) return end;
  const { route = {} } = end.evaluation;
  const isUnasked = Object.values(route).some(({ failure }) => failure !== null);
  return isUnasked ? { ...toFailure(cause), paid: end.evaluation } : end;
}

/** Returns the names of both engines of a run; null of one alone. */
export function engineNames({ transport, next }: AskedEngines): string[] | null {
  if (next == null) return null;
  return [transport, next.transport].map((one) => `${one.name} ${toService(one).modelId}`);
}
