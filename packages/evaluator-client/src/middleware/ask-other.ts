import { untilAborted } from "../clock.ts";
import { ConnectionError } from "../errors.ts";
import type { Evaluation } from "../evaluation.ts";
import type { Evaluator, MiddlewareCall } from "../evaluator.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import { billedAttempts } from "./budget.ts";

/** Whoever answers requests: an evaluator, or your own object, such as a queue with people behind it. */
export type Helper = Pick<Evaluator, "evaluate">;

/** The failure of another evaluator, and how many of its attempts may be charged for that are not yet counted. */
export interface OtherFailure {
  readonly error: unknown;
  readonly uncounted: number;
}

/**
 * Asks another evaluator as a part of a call, with its signal, headers and `providerOptions`. Budgets around
 * the call reserve each attempt before it is sent, and count those whose answers are lost.
 */
export async function askOther(
  helper: Helper,
  request: EvaluationRequest,
  { signal, headers, providerOptions, elsewhere }: MiddlewareCall,
): Promise<{ readonly evaluation: Evaluation } | OtherFailure> {
  const earlier = elsewhere.lost;
  let lostAttempts = 0;
  const beforeAttempt = async (lost: number) => {
    lostAttempts = lost;
    // The attempt counts while it is on the way, beside the answers that the call already has.
    elsewhere.lost = earlier + lost + elsewhere.answered;
    await elsewhere.check();
  };
  try {
    const options = { signal, headers, providerOptions, beforeAttempt };
    const evaluation = await untilAborted(helper.evaluate(request, options), signal);
    elsewhere.lost = earlier + lostAttempts;
    return { evaluation };
  } catch (error) {
    if (error instanceof ConnectionError && error.maybeBilled) lostAttempts += 1;
    elsewhere.lost = earlier + lostAttempts;
    const billed = billedAttempts(error, { lostAttempts, signal });
    return { error, uncounted: billed - lostAttempts };
  }
}
