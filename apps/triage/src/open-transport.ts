import {
  ConfigurationError,
  directTransport,
  gatewayTransport,
  type Transport,
} from "evaluator-client";
import { TriageError } from "./errors.ts";
import { offlineTransport } from "./offline-transport.ts";
import type { Environment, OpenTransportOptions } from "./surroundings.ts";
import { plainText } from "./text/plain-text.ts";
import { transportName } from "./transport-name.ts";

const waysOn = `Two ways on:
  set it in the file .env (.env.example says how) and run the same command again, or
  add --offline, and the emulator on this machine answers without a key.`;

const noKeys = { AI_GATEWAY_API_KEY: "none", EVALUATOR_DIRECT_API_KEY: "none" };

/**
 * Gives the way to the model: the emulator when offline, else the service that `env` names.
 *
 * @throws TriageError with the ways on when `env` names none.
 */
export async function openTransport(options: OpenTransportOptions): Promise<Transport> {
  const { offline, dryRun, env } = options;
  if (offline) return await offlineTransport();
  try {
    return transportFrom(dryRun ? { ...env, ...noKeys } : env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new TriageError(`${plainText(error.message)}\n${waysOn}`, { cause: error });
  }
}

function transportFrom(env: Environment): Transport {
  const name = transportName(env);
  if (name === "gateway") return gatewayTransport({ env });
  if (name === "direct") return directTransport({ env });
  const environmentVariable = "EVALUATOR_TRANSPORT";
  const message = `${environmentVariable} is neither "gateway" nor "direct".`;
  throw new ConfigurationError(message, { option: "transport", environmentVariable });
}
