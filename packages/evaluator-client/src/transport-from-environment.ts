import {
  apiKeyVariables,
  type Environment,
  programEnvironment,
  type TransportName,
} from "./environment.ts";
import { ConfigurationError } from "./errors.ts";
import { directTransport } from "./transports/direct/direct-transport.ts";
import { gatewayTransport } from "./transports/gateway/gateway-transport.ts";
import { logprobsTransport } from "./transports/logprobs/logprobs-transport.ts";
import type { Transport } from "./transports/transport.ts";

const transports = {
  gateway: gatewayTransport,
  direct: directTransport,
  logprobs: logprobsTransport,
} satisfies Record<TransportName, (options: { env: Environment }) => Transport>;

/**
 * Returns the transport that `EVALUATOR_TRANSPORT` names, else the gateway's, with its address, model
 * and key from the same variables.
 *
 * @throws {ConfigurationError} when it names no transport, or the transport lacks something.
 */
export function transportFromEnvironment(env: Environment = programEnvironment()): Transport {
  return transports[transportName(env)]({ env });
}

/**
 * Returns the key of that transport, or null; programs that share a limit have the same key.
 *
 * @throws {ConfigurationError} when `EVALUATOR_TRANSPORT` names no transport.
 */
export function keyFromEnvironment(env: Environment = programEnvironment()): string | null {
  return env[apiKeyVariables[transportName(env)]]?.trim() || null;
}

function transportName(env: Environment): TransportName {
  const environmentVariable = "EVALUATOR_TRANSPORT";
  const name = env[environmentVariable]?.trim() || "gateway";
  if (Object.hasOwn(transports, name)) return name as TransportName;
  const message = `${environmentVariable} is none of ${Object.keys(transports).join(", ")}.`;
  throw new ConfigurationError(message, { option: "transport", environmentVariable });
}
