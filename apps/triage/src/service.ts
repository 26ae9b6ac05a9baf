import {
  type Catalog,
  ConfigurationError,
  createCatalog,
  directTransport,
  gatewayTransport,
  type Transport,
} from "evaluator-client";
import { TriageError } from "./errors.ts";
import type { Environment, OpenTransportOptions } from "./surroundings.ts";
import { plainText } from "./text/plain-text.ts";

/** Who answers: two services never share an answer. */
export interface Service {
  /** The wire and the address behind it, without user name or password. */
  readonly wire: string;
  /** The model the requests name. */
  readonly modelId: string;
}

/** Says who answers through a transport. */
export function serviceOf({ name, target }: Transport): Service {
  if (target === undefined) return { wire: name, modelId: "unknown" };
  const { protocol, host, pathname } = new URL(target.url);
  return { wire: `${name} ${protocol}//${host}${pathname}`, modelId: target.modelId };
}

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

/** Gives a way to the emulator in this process: no key, no network. */
async function offlineTransport(): Promise<Transport> {
  const { createEmulator } = await import("evaluator-emulator");
  const emulator = createEmulator();
  const gateway = gatewayTransport({
    apiKey: "offline",
    modelId: "typesafe-ai/jev",
    env: {},
    fetch: (input, init) => emulator.fetch(input, init),
  });
  // Its answers are never taken for those of the service.
  const target = { url: "local:emulator", modelId: "typesafe-ai/jev" };
  return { ...gateway, name: "emulator", target };
}

// A price is worth a short wait, and no run fails for want of it.
const limits = { maxRetries: 0, deadlineMs: 3000 };

/** Gives the gateway's price list, which needs no key; null when the gateway is not the way. */
export function openCatalog({ offline, env }: OpenTransportOptions): Catalog | null {
  return offline || transportName(env) !== "gateway" ? null : createCatalog({ env, ...limits });
}

/** Gives the name of the transport that `env` asks for. */
function transportName(env: Environment): string {
  return env["EVALUATOR_TRANSPORT"]?.trim() || "gateway";
}
