import type { Environment } from "evaluator-kit";
import { createEvaluator, type Transport, transportFromEnvironment } from "evaluator-client";
import { type EvaluationEngine, type Tracing, transportUse } from "./services.ts";
import { type SharedLimit, sharedLimitPacer } from "./shared-limit.ts";

/**
 * Returns what the environment names as who decides.
 *
 * @throws ConfigurationError when the environment does not say how to reach the evaluation model.
 */
export function connectEvaluation(
  env: Environment,
  { sharedLimit, tracing }: { sharedLimit: SharedLimit | null; tracing: Tracing | null },
): EvaluationEngine {
  const transport = transportFromEnvironment(env);
  const pacer = sharedLimit === null ? null : sharedLimitPacer(sharedLimit, { transport, env });
  const evaluator = createEvaluator({
    transport,
    env,
    ...(pacer !== null && { pacer }),
    ...(tracing !== null && { tracing: tracing.evaluation }),
  });
  const address = addressOf(transport);
  const asksChatModel = transportUse(transport.name)?.asksChatModel === true;
  const how = asksChatModel ? ", read from its log-probabilities" : "";
  return {
    evaluator,
    async close() {
      await evaluator.close();
      await pacer?.[Symbol.asyncDispose]();
    },
    engineAddress: `${transport.name} ${address}`,
    decider: `${transport.target?.modelId ?? "a model"} at ${address}${how}`,
  };
}

/** Where a transport sends to; no user name or password is a part of it. */
function addressOf({ target }: Transport): string {
  if (target === undefined) return "an address of its own";
  const { protocol, host, pathname } = new URL(target.url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}
