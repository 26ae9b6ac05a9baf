import type { Emulator } from "evaluator-emulator";
import {
  type CliContext,
  CliError,
  type Clock,
  type Environment,
  type Option,
  printable,
  systemErrorCode,
  toPrintable,
} from "evaluator-kit";
import type { Catalog, ConfigurationError, LimitStore, Transport } from "evaluator-client";
import type { RunStore } from "./store/run-store.ts";
import type { Machine } from "./machine.ts";
import type { RecordSource } from "./input/record-source.ts";

/** The context of a program: the machine, its records and its services. */
export interface ProgramContext extends CliContext, Omit<Machine, "clock"> {
  /** Called once a command's code is loaded, before it begins. */
  readonly onLoad?: () => void;
  readonly source: RecordSource;
  readonly openTransport: (options: ServiceOptions) => Promise<Transport>;
  /** The option of `run` and `work` that `openTransport` takes as `engine`. @default none */
  readonly engineOption?: Option;
  /** Whether a run may cost anything, and a person is asked before it. @default a run above $1 */
  readonly mayCost?: (options: ServiceOptions) => Promise<boolean>;
  /** Returns the price list of the service; null if it has none. */
  readonly openCatalog: (options: ServiceOptions) => Promise<Catalog | null>;
  readonly openRuns: OpenRuns;
  /** Opens the store of limits that the workers of a database share. @default `postgresLimits` */
  readonly openLimits?: (url: string) => Promise<LimitStore & AsyncDisposable>;
}

/** Opens the runs of a database; with `supervises`, chunks of dead workers are handed out again. */
export type OpenRuns = (
  url: string,
  options: { readonly supervises: boolean; readonly clock?: Clock },
) => Promise<RunStore>;

/** The wanted service. */
export interface ServiceOptions {
  /** As typed after `engineOption`. @default the engine of `env` */
  readonly engine?: string | undefined;
  /** Whether the emulator answers. */
  readonly offline?: boolean | undefined;
  /** Whether nothing is sent; no key is needed then. */
  readonly dryRun?: boolean | undefined;
  readonly env: Environment;
}

/** The service that answers: two services never share an answer. */
export interface Service {
  /** The transport, its address without user name or password, and the format of its prompts, if any. */
  readonly address: string;
  readonly modelId: string;
}

/** Returns the service behind a transport. */
export function toService({ name, target }: Transport): Service {
  if (target === undefined) return { address: name, modelId: "unknown" };
  const { protocol, host, pathname } = new URL(target.url);
  const prompts = target.format === undefined ? "" : `, prompts ${target.format}`;
  return { address: `${name} ${protocol}//${host}${pathname}${prompts}`, modelId: target.modelId };
}

const THEN = ", then ";

/** Returns the service of two engines, of which the second is asked again. */
export function serviceOfBoth(first: Service, next: Service, bounds: string): Service {
  const then = `${next.address} ${next.modelId} if ${bounds}`;
  return { ...first, address: first.address + THEN + then };
}

/** Returns the address of the first engine alone. */
export function firstAddress(address: string): string {
  return address.split(THEN, 1).join("");
}

/** Returns in one line the engine that answers. */
export function describeEngine({ address, modelId }: Service): string {
  if (isEmulator(address)) {
    return "Offline: the local emulator answers, from recordings or by matching words, not a model.\n";
  }
  return printable`Engine: ${modelId} through ${address}.\n`;
}

/** Throws a CliError if a run asks another engine than the one here; two engines never mix. */
export function checkSameEngine(
  { run, service, advice }: Readonly<Record<"run" | "advice", string>> & { service: Service },
  here: Service,
): void {
  if (service.address === here.address && service.modelId === here.modelId) return;
  const asks = printable`${run} asks ${service.modelId} through ${service.address}`;
  const instead = printable`not ${here.modelId} through ${here.address}`;
  throw new CliError(`${asks}, ${instead}; ${advice}`);
}

/** Returns whether the emulator in this process answers. */
export function isEmulator(address: string): boolean {
  return address.startsWith("emulator ");
}

const nextSteps = `Set it in .env (see .env.example), set EVALUATOR_TRANSPORT, or add
--offline to let the local emulator answer.`;

/**
 * Returns the transport to the emulator when offline, else to the typed engine (NAME or NAME@MODEL), else to the
 * service that `env` names.
 *
 * @throws CliError with the next steps if `env` names none.
 */
export async function openTransport(options: ServiceOptions): Promise<Transport> {
  const { offline, dryRun, engine } = options;
  if (offline) return await offlineTransport(dryRun);
  const env = engine === undefined ? options.env : { ...options.env, ...listVariables(engine) };
  const client = await import("evaluator-client");
  try {
    return client.transportFromEnvironment(dryRun ? await withoutKeys(env) : env);
  } catch (error) {
    if (!(error instanceof client.ConfigurationError)) throw error;
    throw new CliError(`${toPrintable(inVariables(error, env))}\n${nextSteps}`, { cause: error });
  }
}

/** Returns an engine as the variables that the client reads. */
function listVariables(engine: string): Environment {
  const [name, model] = engine.split(/@(.*)/s, 2);
  return { EVALUATOR_TRANSPORT: name, ...(model && { EVALUATOR_MODEL_ID: model }) };
}

/** Returns variables for a service that is sent nothing, which needs no key. */
export async function withoutKeys(env: Environment): Promise<Environment> {
  const { keyVariables } = await import("evaluator-client");
  const keys = keyVariables.map((variable) => [variable, "none"]);
  return { ...env, ...Object.fromEntries(keys) };
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
    const advice = "run npm install evaluator-emulator";
    throw new CliError(`--offline needs the package evaluator-emulator; ${advice}.`, {
      cause: error,
    });
  }
}

/** Opens the runs of a database; the library for it is loaded only here. */
export const openRuns: OpenRuns = async (url, options) => {
  const { postgresRuns } = await import("./postgres/index.ts");
  return await postgresRuns(url, { ...options, onlyReads: !options.supervises });
};

/** Returns the gateway's price list, which needs no key; null when the gateway is not asked. */
export async function openCatalog({
  offline,
  engine,
  env,
}: ServiceOptions): Promise<Catalog | null> {
  const isGateway =
    (engine?.split("@")[0] ?? env["EVALUATOR_TRANSPORT"] ?? "gateway") === "gateway";
  if (offline || !isGateway) return null;
  const { createCatalog } = await import("evaluator-client");
  // A price is worth a short wait, and no run fails for want of it.
  return createCatalog({ env, maxRetries: 0, deadlineMs: 3000 });
}
