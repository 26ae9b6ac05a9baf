import type { Environment } from "evaluator-cli-kit";
import {
  ConfigurationError,
  createEvaluator,
  directTransport,
  gatewayTransport,
  logprobsTransport,
  type Transport,
} from "evaluator-client";
import type { NamedEvaluation } from "./services.ts";

const transports = {
  gateway: gatewayTransport,
  direct: directTransport,
  logprobs: logprobsTransport,
};

/**
 * Returns what the environment names as who decides.
 *
 * @throws ConfigurationError when the environment does not say how to reach the evaluation model.
 */
export function connectEvaluation(env: Environment): NamedEvaluation {
  const name = env["EVALUATOR_TRANSPORT"]?.trim() || "gateway";
  if (!Object.hasOwn(transports, name)) {
    const environmentVariable = "EVALUATOR_TRANSPORT";
    const message = `${environmentVariable} is none of ${Object.keys(transports).join(", ")}.`;
    throw new ConfigurationError(message, { option: "transport", environmentVariable });
  }
  const transport = transports[name as keyof typeof transports]({ env });
  const address = addressOf(transport);
  const how = name === "logprobs" ? ", read from its log-probabilities" : "";
  return {
    evaluator: createEvaluator({ transport, env }),
    evaluatorWire: `${transport.name} ${address}`,
    decider: `${transport.target?.modelId ?? "a model"} at ${address}${how}`,
  };
}

/** Where a transport sends to; no user name or password is a part of it. */
function addressOf({ target }: Transport): string {
  if (target === undefined) return "an address of its own";
  const { protocol, host, pathname } = new URL(target.url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}
