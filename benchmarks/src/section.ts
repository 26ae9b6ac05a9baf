import type { TargetName } from "./calls/targets.ts";
import type { BenchmarkServer } from "./process/start-servers.ts";

/** The setup of a section. */
export interface SectionContext {
  readonly scale: Scale;
  readonly server: BenchmarkServer;
  /** The folder of the built client. */
  readonly clientFolder: string;
  /** The folder of another build to compare with, or null. */
  readonly otherClientFolder: string | null;
  /** The targets of the parts that measure calls. */
  readonly targets: readonly TargetName[];
  /** Where asking processes leave CPU profiles, or null. */
  readonly profileFolder: string | null;
  /** Prints the progress. */
  readonly tell: (line: string) => void;
}

/** A section of the benchmark: measures and returns tables. */
export type Section = (context: SectionContext) => Promise<readonly ReportTable[]>;

/** A table: the first column is text, the others are numbers. */
export interface ReportTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** A line below the table. */
  readonly note?: string;
}

/** The amount of measurement. */
export interface Scale {
  /** How often each target has its turn. */
  readonly rounds: number;
  /** How long a turn is measured. */
  readonly roundMs: number;
  /** How long it runs before that, in each turn. */
  readonly leadInMs: number;
  /** How long it runs before its first turn. */
  readonly warmUpMs: number;
  /** How often each server streams its replies. */
  readonly streamRounds: number;
  /** How often the triage runs at each number of calls in flight. */
  readonly triageRounds: number;
  /** How many mails the triage asks about for each call in flight. */
  readonly mailsPerCallInFlight: number;
}

/** A quick look, of a minute or two. */
export const shortScale: Scale = {
  rounds: 8,
  roundMs: 150,
  leadInMs: 30,
  warmUpMs: 600,
  streamRounds: 3,
  triageRounds: 1,
  mailsPerCallInFlight: 100,
};

/** Figures to quote. */
export const longScale: Scale = {
  rounds: 30,
  roundMs: 500,
  leadInMs: 100,
  warmUpMs: 3000,
  streamRounds: 10,
  triageRounds: 3,
  mailsPerCallInFlight: 1000,
};

// Each is loaded when it is run: with all of them, `--help` starts in five times the work.

/** Every part of the benchmark, in the order it is run. */
export const sections = {
  calls: async (context) => (await import("./calls/calls-section.ts")).callsSection(context),
  router: async (context) => (await import("./router/router-section.ts")).routerSection(context),
  stream: async (context) => (await import("./stream/stream-section.ts")).streamSection(context),
  triage: async (context) => (await import("./triage/triage-section.ts")).triageSection(context),
} as const satisfies Record<string, Section>;

/** All names, in order. */
export const sectionNames = Object.keys(sections) as readonly (keyof typeof sections)[];
