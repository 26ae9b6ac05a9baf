import type { Emulator } from "evaluator-emulator";
import { CliError, type Environment, systemErrorCode, toPrintable } from "evaluator-kit";
import type { Catalog, ConfigurationError, Transport } from "evaluator-client";
import type { OpenRuns, ServiceOptions } from "../service.ts";

const nextSteps = `Either
  set it in the file .env (.env.example says how), or EVALUATOR_TRANSPORT to ask another engine,
  and run the same command again, or
  add --offline, and the emulator on this machine answers without a key.`;

/**
 * Returns the transport to the emulator when offline, else to the service that `env` names.
 *
 * @throws CliError with the next steps if `env` names none.
 */
export async function openTransport(options: ServiceOptions): Promise<Transport> {
  const { offline, dryRun, env } = options;
  if (offline) return await offlineTransport(dryRun);
  const client = await import("evaluator-client");
  const { apiKeyVariables, transportFromEnvironment } = client;
  // What sends nothing needs no key.
  const keys = Object.values(apiKeyVariables).map((variable) => [variable, "none"]);
  try {
    return transportFromEnvironment(dryRun ? { ...env, ...Object.fromEntries(keys) } : env);
  } catch (error) {
    if (!(error instanceof client.ConfigurationError)) throw error;
    throw new CliError(`${toPrintable(inVariables(error, env))}\n${nextSteps}`, { cause: error });
  }
}

/** The client's options are no options of this program, which reads variables alone. */
function inVariables({ message, environmentVariable }: ConfigurationError, env: Environment) {
  const isUnset = environmentVariable !== null && !env[environmentVariable]?.trim();
  if (isUnset) return `${environmentVariable} is not set.`;
  return message.replace(/^The option "\w+" \((\w+)\)/, "$1");
}

// The emulator in this process: no key, no network. A dry run asks nothing, so it leaves the emulator
// out and stays as small as one without --offline.
async function offlineTransport(dryRun = false): Promise<Transport> {
  const { fetch = () => Promise.reject(new Error("A dry run sends nothing.")) } = dryRun
    ? {}
    : await loadEmulator();
  const { gatewayTransport } = await import("evaluator-client");
  const modelId = "typesafe-ai/jev";
  const gateway = gatewayTransport({ apiKey: "offline", modelId, env: {}, fetch });
  // Its answers are never taken for those of the service.
  const target = { url: "local:emulator", modelId };
  return { ...gateway, name: "emulator", target };
}

async function loadEmulator(): Promise<Emulator> {
  try {
    return (await import("evaluator-emulator")).createEmulator();
  } catch (error) {
    if (systemErrorCode(error) !== "ERR_MODULE_NOT_FOUND") throw error;
    const advice = "install it with npm install evaluator-emulator";
    throw new CliError(`--offline needs the package evaluator-emulator; ${advice}.`, {
      cause: error,
    });
  }
}

/** Opens the runs of a database; the library for it is loaded only here. */
export const openRuns: OpenRuns = async (url, options) => {
  const { postgresRuns } = await import("../postgres/index.ts");
  return await postgresRuns(url, { ...options, onlyReads: !options.supervises });
};

/** Returns the gateway's price list, which needs no key; null when the gateway is not asked. */
export async function openCatalog({ offline, env }: ServiceOptions): Promise<Catalog | null> {
  const isGateway = (env["EVALUATOR_TRANSPORT"] ?? "gateway") === "gateway";
  if (offline || !isGateway) return null;
  const { createCatalog } = await import("evaluator-client");
  // A price is worth a short wait, and no run fails for want of it.
  return createCatalog({ env, maxRetries: 0, deadlineMs: 3000 });
}
