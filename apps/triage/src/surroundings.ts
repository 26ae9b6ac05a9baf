import type { Catalog, Transport } from "evaluator-client";
import type { CliContext, Environment } from "evaluator-cli-kit";

export type { Environment, TextSink } from "evaluator-cli-kit";

/** What a run takes from the machine it is on. */
export interface Surroundings extends CliContext {
  /** Returns the way to the model. */
  readonly openTransport: (options: OpenTransportOptions) => Promise<Transport>;
  /** Returns the price list of the service; null when it has none. */
  readonly openCatalog: (options: OpenTransportOptions) => Catalog | null;
}

/** Which way to the model is wanted. */
export interface OpenTransportOptions {
  /** Whether the emulator answers. */
  readonly offline: boolean;
  /** Whether nothing is sent; no key is needed then. */
  readonly dryRun: boolean;
  readonly env: Environment;
}
