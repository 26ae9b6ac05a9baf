import type { Catalog, Transport } from "evaluator-client";
import type { Clock } from "./clock.ts";

/** What a run takes from the machine it is on. */
export interface Surroundings {
  /** Environment variables: those of `createEvaluator`, `TRIAGE_…` and `NO_COLOR`. */
  readonly env: Environment;
  /** The folder that typed paths are relative to. */
  readonly cwd: string;
  /** Where results go. */
  readonly stdout: TextSink;
  /** Where everything said about the run goes. */
  readonly stderr: TextSink;
  /** Interrupts the run: what is in flight is still kept, and no results are written. */
  readonly signal: AbortSignal;
  /** The time. */
  readonly clock: Clock;
  /** Asks the person a yes/no question; null when nobody is there. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
  /** Gives the way to the model. */
  readonly openTransport: (options: OpenTransportOptions) => Promise<Transport>;
  /** Gives the price list of the service; null when it has none. */
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

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Somewhere text can be written to. */
export interface TextSink {
  write(text: string): unknown;
  /** Whether it is a terminal. */
  readonly isTTY?: boolean;
}
