import { CallDeadline } from "./call-deadline.ts";
import { ConfigurationError } from "./errors.ts";
import type { Evaluation } from "./evaluation.ts";
import type { Middleware, MiddlewareCall } from "./evaluator.ts";
import { callLimits } from "./evaluator-options.ts";
import { isRecord, quoteName } from "./questions/json.ts";
import type { EvaluationRequest } from "./questions/request.ts";
import type { RetryPolicy } from "./retry/retry-policy.ts";
import { computeMostTokens } from "./transports/call-estimate.ts";
import type { Transport } from "./transports/transport.ts";

interface ChainedCall extends Pick<MiddlewareCall, "estimate"> {
  readonly request: EvaluationRequest;
  readonly policy: RetryPolicy;
  readonly transport: Transport;
  /** Checks a changed request, and makes the attempts. */
  send(request: EvaluationRequest, policy: RetryPolicy): Promise<Evaluation>;
}

/** Makes a call through middleware, within its deadline. */
export function askThrough(
  chain: readonly Middleware[],
  chainedCall: ChainedCall,
): Promise<Evaluation> {
  const { policy, transport } = chainedCall;
  const { headers, providerOptions, clock } = policy;
  const deadline = new CallDeadline(policy);
  const currentLostAttempts = { attempts: 0 };
  const toPrice = () => call.elsewhere.usdPerMillionTokens ?? transport.usdPerMillionTokens;
  const mostTokens = () =>
    call.elsewhere.mostTokens ?? computeMostTokens(chainedCall.estimate(chainedCall.request));
  const beforeAttempt = () => policy.beforeAttempt?.(call.lostAttempts, toPrice(), mostTokens());
  let limitedRetryPolicy: RetryPolicy = {
    ...policy,
    lostAttempts: currentLostAttempts,
    deadlineAtMs: deadline.atMs,
    beforeAttempt,
  };
  const call: MiddlewareCall = {
    get signal() {
      return deadline.signal;
    },
    limits: callLimits(policy),
    headers,
    providerOptions,
    transport: transport.name,
    target: transport.target,
    usdPerMillionTokens: transport.usdPerMillionTokens,
    clock,
    get lostAttempts() {
      return currentLostAttempts.attempts + call.elsewhere.lost;
    },
    elsewhere: {
      lost: 0,
      usdPerMillionTokens: undefined,
      mostTokens: undefined,
      answered: 0,
      check: async () => await limitedRetryPolicy.beforeAttempt?.(call.lostAttempts),
    },
    limitWait: (waitLimit) => void (limitedRetryPolicy = { ...limitedRetryPolicy, waitLimit }),
    beforeAttempt(check) {
      const { beforeAttempt: earlier } = limitedRetryPolicy;
      const both = async (lostAttempts: number) => {
        await earlier?.(lostAttempts);
        await check();
      };
      limitedRetryPolicy = { ...limitedRetryPolicy, beforeAttempt: both };
    },
    estimate: (request) => chainedCall.estimate(request),
  };
  const send = async (request: EvaluationRequest) => {
    const evaluation = await deadline.send(() => chainedCall.send(request, limitedRetryPolicy));
    call.elsewhere.answered += 1;
    return evaluation;
  };
  const through =
    (next: typeof send, middleware: Middleware, at: number) => (request: EvaluationRequest) =>
      runMiddleware(middleware.name || `number ${at + 1} of ${chain.length}, from outside`, () =>
        middleware(request, next, call),
      );
  return deadline.run(() => chain.reduceRight(through, send)(chainedCall.request));
}

/** Returns what a middleware returns. @throws ConfigurationError if that is no evaluation. */
async function runMiddleware(name: string, run: () => Promise<Evaluation>): Promise<Evaluation> {
  const evaluation: unknown = await run();
  if (isRecord(evaluation)) return evaluation as unknown as Evaluation;
  const message = `The middleware ${quoteName(name)} returned no evaluation; write: return next(request).`;
  throw new ConfigurationError(message, { option: "middleware" });
}

/** Returns a middleware. @throws ConfigurationError if it is no function. */
export function checkMiddleware(middleware: Middleware): Middleware {
  if (typeof middleware === "function") return middleware;
  const message = `The middleware is no function; write with((request, next) => next(request)).`;
  throw new ConfigurationError(message, { option: "middleware" });
}
