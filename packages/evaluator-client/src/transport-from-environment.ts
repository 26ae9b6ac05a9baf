import {
  type Environment,
  type OwnTransportName,
  ownKeyVariables,
  programEnvironment,
} from "./environment.ts";
import { rejectVariable } from "./options.ts";
import { directTransport } from "./transports/direct/direct-transport.ts";
import { type ServiceName, serviceRows, services } from "./transports/direct/services.ts";
import { gatewayTransport } from "./transports/gateway/gateway-transport.ts";
import { logprobsTransport } from "./transports/logprobs/logprobs-transport.ts";
import type { Transport } from "./transports/transport.ts";

const transports = {
  gateway: gatewayTransport,
  direct: directTransport,
  logprobs: logprobsTransport,
} satisfies Record<OwnTransportName, (options: { env: Environment }) => Transport>;

/** The name of a transport, as `EVALUATOR_TRANSPORT` takes it: one of ours, or a service's. */
export type TransportName = OwnTransportName | ServiceName;

const firstVariables = services.map((name) => [name, serviceRows[name].keyVariables[0]]);

/** The first variable of the key of each transport and service; a program must never print their values. */
export const apiKeyVariables: Readonly<Record<TransportName, string>> = {
  ...ownKeyVariables,
  ...(Object.fromEntries(firstVariables) as Record<ServiceName, string>),
};

const ofServices = services.flatMap((name) => serviceRows[name].keyVariables);

/** Every variable that may hold a key. */
export const keyVariables: readonly string[] = [
  ...new Set([...Object.values(ownKeyVariables), ...ofServices]),
];

/**
 * Returns the transport that `EVALUATOR_TRANSPORT` names, else the gateway's, with its address, model
 * and key from the same variables.
 *
 * @throws {ConfigurationError} when it names no transport, or the transport lacks something.
 */
export function transportFromEnvironment(env: Environment = programEnvironment()): Transport {
  const name = transportName(env);
  return isService(name) ? directTransport({ env, service: name }) : transports[name]({ env });
}

/**
 * Returns the key of that transport, or null; programs that share a limit have the same key.
 *
 * @throws {ConfigurationError} when `EVALUATOR_TRANSPORT` names no transport.
 */
export function keyFromEnvironment(env: Environment = programEnvironment()): string | null {
  const name = transportName(env);
  const variables = isService(name) ? serviceRows[name].keyVariables : [ownKeyVariables[name]];
  return variables.map((variable) => env[variable]?.trim()).find(Boolean) ?? null;
}

function transportName(env: Environment): TransportName {
  const variable = "EVALUATOR_TRANSPORT";
  const name = env[variable]?.trim() || "gateway";
  if (Object.hasOwn(transports, name) || isService(name)) return name as TransportName;
  const names = [...Object.keys(transports), ...services].join(", ");
  return rejectVariable(variable, "transport", `is none of ${names}`);
}

function isService(name: string): name is ServiceName {
  return Object.hasOwn(serviceRows, name);
}
