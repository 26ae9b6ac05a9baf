import { type CliContext, CliError, type Environment, printable } from "evaluator-kit";
import type { Catalog, Transport, TransportName } from "evaluator-client";
import type { PostgresRuns } from "./postgres/index.ts";
import type { RecordSource } from "./input/record-source.ts";

/** The context of a program: the machine, its records and its services. */
export interface ProgramContext extends CliContext {
  /** Called once a command's code is loaded, before it begins. */
  readonly onLoad?: () => void;
  readonly source: RecordSource;
  readonly openTransport: (options: ServiceOptions) => Promise<Transport>;
  /** Returns the price list of the service; null if it has none. */
  readonly openCatalog: (options: ServiceOptions) => Promise<Catalog | null>;
  readonly openRuns: OpenRuns;
}

/** Opens the runs of a database; with `supervises`, chunks of dead workers are handed out again. */
export type OpenRuns = (
  url: string,
  options: { readonly supervises: boolean },
) => Promise<PostgresRuns>;

/** The wanted service. */
export interface ServiceOptions {
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
export function serviceOf({ name, target }: Transport): Service {
  if (target === undefined) return { address: name, modelId: "unknown" };
  const { protocol, host, pathname } = new URL(target.url);
  const prompts = target.format === undefined ? "" : `, prompts ${target.format}`;
  return { address: `${name} ${protocol}//${host}${pathname}${prompts}`, modelId: target.modelId };
}

/** Returns in one line the engine that answers. */
export function describeEngine({ address, modelId }: Service): string {
  if (isEmulator(address)) {
    return "Offline: the emulator on this machine answers, from recordings or by matching words, not a model.\n";
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
  const instead = printable`and here the engine is ${here.modelId} through ${here.address}`;
  throw new CliError(`${asks}, ${instead}; ${advice}`);
}

/** Returns whether the emulator in this process answers. */
export function isEmulator(address: string): boolean {
  return address.startsWith("emulator ");
}

// The hosts whose prices are in the contract; null for all.
const documentedHosts: Readonly<Record<string, readonly string[] | null>> = {
  gateway: null,
  direct: ["api.typesafe.ai"],
  logprobs: [],
  emulator: null, // the estimate is that of the service
} satisfies Record<TransportName | "emulator", readonly string[] | null>;

/** Returns whether the contract has the price of an engine. */
export function hasDocumentedPrice({ name, target }: Transport): boolean {
  const { [name]: hosts = [] } = documentedHosts;
  return hosts === null || (target !== undefined && hosts.includes(new URL(target.url).host));
}
