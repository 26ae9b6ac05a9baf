import type { Emulator } from "evaluator-emulator";
import { type CliContext, CliError, type Environment, printable, toPrintable } from "evaluator-kit";
import type { Catalog, ConfigurationError, Transport, TransportName } from "evaluator-client";
import type { PostgresRuns } from "evaluator-postgres";

/** What the program runs with: what it takes from the machine, and how a service is reached. */
export interface TriageContext extends CliContext {
  /** Returns the transport to ask through. */
  readonly openTransport: (options: ServiceOptions) => Promise<Transport>;
  /** Returns the price list of the service; null when it has none. */
  readonly openCatalog: (options: ServiceOptions) => Promise<Catalog | null>;
  /** Opens the runs of a database by its URL. */
  readonly openRuns: OpenRuns;
}

/** Opens the runs of a database, by its URL, for workers or for those who only look. */
export type OpenRuns = (url: string, options: RunsOptions) => Promise<PostgresRuns>;

/** How the runs of a database are opened. */
export interface RunsOptions {
  /** Whether the chunks of dead workers are handed out again. */
  readonly supervises: boolean;
}

/** Which service is wanted. */
export interface ServiceOptions {
  /** Whether the emulator answers. */
  readonly offline: boolean;
  /** Whether nothing is sent; no key is needed then. */
  readonly dryRun: boolean;
  readonly env: Environment;
}

/** Who answers: two services never share an answer. */
export interface Service {
  /** The transport, the address behind it without user name or password, and the prompts it writes, if any. */
  readonly address: string;
  /** The model the requests name. */
  readonly modelId: string;
}

/** Returns who answers through a transport. */
export function serviceOf({ name, target }: Transport): Service {
  if (target === undefined) return { address: name, modelId: "unknown" };
  const { protocol, host, pathname } = new URL(target.url);
  const prompts = target.format === undefined ? "" : `, prompts ${target.format}`;
  return { address: `${name} ${protocol}//${host}${pathname}${prompts}`, modelId: target.modelId };
}

/** Returns in one line which engine answers. */
export function describeEngine({ address, modelId }: Service): string {
  if (isEmulator(address)) {
    return "Offline: the emulator on this machine answers, from recordings or by matching words, not a model.\n";
  }
  return printable`Engine: ${modelId} through ${address}.\n`;
}

/** Which run goes on here, and what to do where it cannot. */
export interface AskedRun {
  /** The run, as a sentence begins with it. */
  readonly run: string;
  readonly service: Service;
  readonly advice: string;
}

/** Throws a CliError when a run asks another engine than the one here; two engines never mix. */
export function checkSameEngine({ run, service, advice }: AskedRun, here: Service): void {
  if (service.address === here.address && service.modelId === here.modelId) return;
  const asks = printable`${run} asks ${service.modelId} through ${service.address}`;
  const instead = printable`and here the engine is ${here.modelId} through ${here.address}`;
  throw new CliError(`${asks}, ${instead}; ${advice}`);
}

/** Returns whether it is the emulator in this process that answers. */
export function isEmulator(address: string): boolean {
  return address.startsWith("emulator ");
}

const vendorHost = "api.typesafe.ai";

/** What the program knows of the prices behind a transport. */
interface Prices {
  /** Whether the contract names what an engine at this host costs: not one's own server, nor another's model. */
  readonly areDocumented: (host: string | undefined) => boolean;
  /** Whether a list of them can be asked for. */
  readonly areListed: boolean;
}

const prices: Readonly<Record<string, Prices>> = {
  gateway: { areDocumented: () => true, areListed: true },
  direct: { areDocumented: (host) => host === vendorHost, areListed: false },
  logprobs: { areDocumented: () => false, areListed: false },
  emulator: { areDocumented: () => true, areListed: false }, // the estimate is the service's
} satisfies Record<TransportName | "emulator", Prices>;

/** Returns whether the contract names what an engine costs. */
export function hasDocumentedPrice({ name, target }: Transport): boolean {
  const host = target && new URL(target.url).host;
  return prices[name]?.areDocumented(host) === true;
}

const nextSteps = `Either
  set it in the file .env (.env.example says how), or EVALUATOR_TRANSPORT to ask another engine,
  and run the same command again, or
  add --offline, and the emulator on this machine answers without a key.`;

/**
 * Returns the transport to the emulator when offline, else to the service that `env` names.
 *
 * @throws CliError that says what to do when `env` names none.
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
async function offlineTransport(dryRun: boolean): Promise<Transport> {
  const lateFetch: Emulator["fetch"] = async (input, init) =>
    (await loadEmulator()).fetch(input, init);
  const { gatewayTransport } = await import("evaluator-client");
  const gateway = gatewayTransport({
    apiKey: "offline",
    modelId: "typesafe-ai/jev",
    env: {},
    fetch: dryRun ? lateFetch : (await loadEmulator()).fetch,
  });
  // Its answers are never taken for those of the service.
  const target = { url: "local:emulator", modelId: "typesafe-ai/jev" };
  return { ...gateway, name: "emulator", target };
}

async function loadEmulator(): Promise<Emulator> {
  return (await import("evaluator-emulator")).createEmulator();
}

// A price is worth a short wait, and no run fails for want of it.
const limits = { maxRetries: 0, deadlineMs: 3000 };

/** Returns the gateway's price list, which needs no key; null when the gateway is not asked. */
export async function openCatalog({ offline, env }: ServiceOptions): Promise<Catalog | null> {
  const name = env["EVALUATOR_TRANSPORT"] ?? "gateway";
  if (offline || prices[name]?.areListed !== true) return null;
  const { createCatalog } = await import("evaluator-client");
  return createCatalog({ env, ...limits });
}
