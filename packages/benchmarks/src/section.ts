import type { TargetName } from "./targets/targets.ts";
import type { BenchmarkServer } from "./server/start-server.ts";

/** What a part of the benchmark runs with. */
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
  /** Prints what is going on. */
  readonly tell: (line: string) => void;
}

/** A part of the benchmark. */
export type Section = (context: SectionContext) => Promise<SectionResult>;

/** A table as it is printed: the first column is text, the others are numbers. */
export interface ReportTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What a reader must know, in a line. */
  readonly note?: string;
}

/** What one part of the benchmark found: tables for people, and everything measured for programs. */
export interface SectionResult {
  readonly tables: readonly ReportTable[];
  readonly data: unknown;
}

/** How much is measured. */
export interface Scale {
  /** How often each target has its turn. */
  readonly rounds: number;
  /** How long a turn is measured. */
  readonly roundMs: number;
  /** How long it runs before that, in each turn. */
  readonly leadInMs: number;
  /** How long it runs before its first turn. */
  readonly warmUpMs: number;
  /** How long the batch is. */
  readonly batchRequests: number;
  /** How often each server streams its replies. */
  readonly streamRounds: number;
  /** How often the triage runs at each number of calls in flight. */
  readonly triageRounds: number;
  /** How many mails the triage asks about for each call in flight. */
  readonly mailsPerCallInFlight: number;
  /** How many rows the journal has that is resumed. */
  readonly journalRows: number;
  /** How many mails the imported mbox has. */
  readonly mboxMails: number;
  /** How many records the exported runs in PostgreSQL have. */
  readonly exportedRows: readonly number[];
  /** How many labelled answers a calibration report is about. */
  readonly calibratedRows: number;
  /** How often that report is made. */
  readonly calibrateRounds: number;
}

/** A quick look, of a minute or two. */
export const shortScale: Scale = {
  rounds: 8,
  roundMs: 150,
  leadInMs: 30,
  warmUpMs: 600,
  batchRequests: 20_000,
  streamRounds: 3,
  triageRounds: 1,
  mailsPerCallInFlight: 100,
  journalRows: 10_000,
  mboxMails: 4000,
  exportedRows: [10_000, 100_000],
  calibratedRows: 100_000,
  calibrateRounds: 3,
};

/** Figures to quote. */
export const longScale: Scale = {
  rounds: 30,
  roundMs: 500,
  leadInMs: 100,
  warmUpMs: 3000,
  batchRequests: 100_000,
  streamRounds: 10,
  triageRounds: 3,
  mailsPerCallInFlight: 1000,
  journalRows: 100_000,
  mboxMails: 40_000,
  exportedRows: [10_000, 100_000, 1_000_000],
  calibratedRows: 1_000_000,
  calibrateRounds: 5,
};
