import type { LabelCommand } from "./label/label-mails.ts";
import type { StateField } from "./input/mail.ts";
import type { OutputFormat } from "./output/write-records.ts";
import type { FilterOptions } from "./rules/mail-filter.ts";

/** What the person asked for. */
export type TriageCommand =
  | ExplainCommand
  | ExportCommand
  | ImportCommand
  | LabelCommand
  | QueryCommand
  | QuestionsCommand
  | ReportCommand
  | StatusCommand
  | TriageRun
  | WorkCommand;

/** Where the answers are kept, as typed; null for where TRIAGE_JOURNAL says, else beside the input. */
interface JournalOption {
  readonly journal: string | null;
}

/** Which of several journal files. */
interface FileOption {
  /** The input file, or the journal beside it, as typed; null for the one journal in the folder. */
  readonly file: string | null;
}

/** How a service is asked. */
export interface AskingOptions extends JournalOption {
  /** Whether the emulator answers. */
  readonly offline: boolean;
  /** Requests in flight at once, at most. */
  readonly concurrency: number;
  /** What a million input tokens cost, in US dollars; null for what lists say. */
  readonly priceUsd: number | null;
  /** The requests a minute that the key allows, for all machines together; null for what is known. */
  readonly requestsPerMinute: number | null;
}

/** One run over one file; its table shows the mails that the filter lets through. */
export interface TriageRun extends AskingOptions, FilterOptions {
  readonly name: "run";
  /** The input file as typed. */
  readonly file: string;
  /** Whether wrong records are left out. */
  readonly skipInvalid: boolean;
  /** How many records to take from the start; Infinity for all. */
  readonly limit: number;
  /** Whether to print each call's answers and provider metadata. */
  readonly raw: boolean;
  /** Whether to say what the run would take, and send nothing. */
  readonly dryRun: boolean;
  /** The most the run may cost, in US dollars; Infinity for no bound. */
  readonly maxCostUsd: number;
  /** Whether a question about the cost is answered with yes. */
  readonly yes: boolean;
  /** Whether the state gets the recommended additions. */
  readonly context: boolean;
  /** The day ages are counted to; null for today. */
  readonly today: string | null;
  /** A file of known addresses as typed, or null. */
  readonly contacts: string | null;
  /** What of a record the model reads beside the contract's fields. */
  readonly stateFields: readonly StateField[];
  /** A file of questions as typed; null for the contract's. */
  readonly questions: string | null;
  /** A calibration to apply as typed; null for the answers as they come. */
  readonly calibration: string | null;
  /** How the results are written. */
  readonly format: OutputFormat;
  /** The field the table is sorted by; null for importance. */
  readonly sort: string | null;
  /** How many rows the table has at most. */
  readonly top: number;
}

/** An export to make an input file from. */
export interface ImportCommand {
  readonly name: "import";
  /** The export as typed. */
  readonly source: string;
  /** The input file to make, as typed. */
  readonly output: string;
  /** What the sent label is called besides the names known. */
  readonly sentLabels: readonly string[];
  /** Where what is not read is named, as typed; null for nowhere. */
  readonly skipped: string | null;
}

/** Work on runs that somebody has begun. */
export interface WorkCommand extends AskingOptions, FileOption {
  readonly name: "work";
  /** The run to work on; null for every open one. */
  readonly run: number | null;
  /** Whether to wait for runs that are still to come. */
  readonly wait: boolean;
}

/** A look at what runs have come to. */
export interface StatusCommand extends JournalOption, FileOption {
  readonly name: "status";
  /** Null for all runs. */
  readonly run: number | null;
}

/** Results to print. */
export interface ExportCommand extends JournalOption, FileOption, FilterOptions {
  readonly name: "export";
  /** Null for the newest run. */
  readonly run: number | null;
  readonly format: OutputFormat;
  /** A calibration to apply as typed; null for the one of the run, if any. */
  readonly calibration: string | null;
  /** A file of rules as typed, whose actions are printed instead; null for the results. */
  readonly rules: string | null;
}

/** Results to ask a query of. */
export interface QueryCommand extends JournalOption, FileOption {
  readonly name: "query";
  /** The query as typed; null for a list of what there is. */
  readonly text: string | null;
  /** Null for the newest run. */
  readonly run: number | null;
  /** Null for a table on a terminal, and CSV elsewhere. */
  readonly format: OutputFormat | "table" | null;
  /** After so many seconds the query ends. */
  readonly timeoutSeconds: number;
  /** After so many rows the output ends. */
  readonly rows: number;
  /** Whether a role may ask that can do more on the server than a rollback undoes. */
  readonly allowSuperuser: boolean;
}

/** A questions file to check. */
export interface QuestionsCommand {
  readonly name: "questions";
  /** The file as typed; null for the schema of such files. */
  readonly file: string | null;
}

/** Results to make a page from. */
export interface ReportCommand extends JournalOption, FilterOptions {
  readonly name: "report";
  /** The input file as typed; null for the results of a journal. */
  readonly file: string | null;
  /** Null for the newest run. */
  readonly run: number | null;
  /** A calibration to apply as typed; null for the one of the run, if any. */
  readonly calibration: string | null;
  /** A file of rules as typed; null for no plan. */
  readonly rules: string | null;
}

/** One mail to explain. */
export interface ExplainCommand extends JournalOption, FileOption {
  readonly name: "explain";
  /** Null for the newest run that has it. */
  readonly run: number | null;
  readonly id: string;
}
