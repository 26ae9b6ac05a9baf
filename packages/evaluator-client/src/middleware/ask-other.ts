import { untilAborted } from "../clock.ts";
import { ConfigurationError, ConnectionError, InvalidRequestError } from "../errors.ts";
import type { Evaluation } from "../evaluation.ts";
import type { Evaluator, MiddlewareCall } from "../evaluator.ts";
import type { EvaluationRequest } from "../questions/request.ts";

/** Whoever answers requests: an evaluator, or your own object, such as a queue with people behind it. */
export type Helper = Pick<Evaluator, "evaluate">;

/**
 * Asks another evaluator as a part of a call, with its signal, headers and `providerOptions`. Budgets around
 * the call reserve each attempt before it is sent, and count those whose answers are lost.
 *
 * @throws the error of the other evaluator, and those of checks before attempts.
 */
export async function askOther(
  helper: Helper,
  request: EvaluationRequest,
  { signal, headers, providerOptions, elsewhere }: MiddlewareCall,
): Promise<Evaluation> {
  const earlier = elsewhere.lost;
  let [lostAttempts, onTheWay] = [0, 0];
  const beforeAttempt = async (
    lostCount: number,
    usdPerMillionTokens?: number,
    mostTokens?: number,
  ) => {
    Object.assign(elsewhere, { usdPerMillionTokens, mostTokens });
    lostAttempts = lostCount;
    // The attempt counts while it is on the way, beside the answers that the call already has.
    elsewhere.lost = earlier + lostCount + elsewhere.answered;
    onTheWay = 0;
    await elsewhere.check();
    onTheWay = 1;
  };
  try {
    const options = { signal, headers, providerOptions, beforeAttempt };
    const evaluation = await untilAborted(helper.evaluate(request, options), signal);
    const { steps = [evaluation] } = evaluation;
    // Its answers before the last attempt are among the lost ones that it reported; they came.
    const answeredHere = steps.filter(({ timing }) => timing.attempts > 0).length - onTheWay;
    elsewhere.lost = earlier + Math.max(0, lostAttempts - Math.max(0, answeredHere));
    elsewhere.answered += steps.length;
    return evaluation;
  } catch (helperError) {
    // One that the end of the call met on the way is counted there.
    const isCallerAbort = signal?.aborted === true && helperError === signal.reason;
    if (!isCallerAbort && helperError instanceof ConnectionError && helperError.maybeBilled)
      lostAttempts += 1;
    // These come before anything is sent: whoever answered before had its answer, and another one was asked.
    if (helperError instanceof ConfigurationError || helperError instanceof InvalidRequestError)
      lostAttempts += onTheWay;
    elsewhere.lost = earlier + lostAttempts;
    throw helperError;
  }
}
