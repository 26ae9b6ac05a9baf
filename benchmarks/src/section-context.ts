import type { TargetName } from "./targets.ts";
import type { BenchmarkServer } from "./process/start-servers.ts";

/** The setup of a section. */
export interface SectionContext {
  readonly scale: typeof shortScale;
  readonly server: BenchmarkServer;
  /** The folder of the built client. */
  readonly clientFolder: string;
  /** The folder of another build to compare with, or null. */
  readonly otherClientFolder: string | null;
  /** The root of the other checkout, or null. */
  readonly otherCheckout: string | null;
  /** The targets of the parts that measure calls. */
  readonly targets: readonly TargetName[];
  /** Prints the progress. */
  readonly tell: (line: string) => void;
}

/**
 * A quick look, of a minute or two. Each target has `rounds` turns of `roundMs`, runs for `leadInMs`
 * before each and for `warmUpMs` before the first; replies are streamed, and the triage is run, as often
 * as their rounds.
 */
export const shortScale = {
  rounds: 8,
  roundMs: 150,
  leadInMs: 30,
  warmUpMs: 600,
  streamRounds: 3,
  triageRounds: 1,
  mailsPerCallInFlight: 100,
};

/** Figures to quote. */
export const longScale: typeof shortScale = {
  rounds: 30,
  roundMs: 500,
  leadInMs: 100,
  warmUpMs: 3000,
  streamRounds: 10,
  triageRounds: 3,
  mailsPerCallInFlight: 1000,
};
