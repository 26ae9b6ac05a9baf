import { type CliContext, CliError, type Environment, printable } from "evaluator-kit";
import type { Catalog, Transport, TransportName } from "evaluator-client";
import type { PostgresRuns } from "./postgres/index.ts";
import type { RecordSource } from "./input/record-source.ts";

/** What the program runs with: what it takes from the machine, and how a service is reached. */
export interface ProgramContext extends CliContext {
  /** Called once a command's code is loaded, before it begins. */
  readonly onLoad?: () => void;
  readonly source: RecordSource;
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
  readonly offline?: boolean | undefined;
  /** Whether nothing is sent; no key is needed then. */
  readonly dryRun?: boolean | undefined;
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

/** Returns whether the prices behind a transport of this name can be listed. */
export function hasPriceList(name: string): boolean {
  return prices[name]?.areListed === true;
}
