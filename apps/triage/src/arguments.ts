import {
  parseWords,
  readDecimal,
  readPositionals,
  readWholeNumber,
  readWord,
  UsageError,
} from "evaluator-cli-kit";
import { z } from "zod";
import type { LabelCommand } from "./label/label-mails.ts";
import { toOutputPath } from "./output/paths.ts";
import { type OutputFormat, outputFormats } from "./output/write-records.ts";

/** What the person asked for. */
export type TriageCommand =
  | { readonly name: "help" }
  | ExplainCommand
  | ImportCommand
  | LabelCommand
  | ReportCommand
  | TriageRun;

/** One run over one file. */
export interface TriageRun {
  readonly name: "run";
  /** The input file as typed. */
  readonly file: string;
  /** Whether wrong records are left out. */
  readonly skipInvalid: boolean;
  /** How many records to take from the start; Infinity for all. */
  readonly limit: number;
  /** Whether to print each call's answers and provider metadata. */
  readonly raw: boolean;
  /** Whether the emulator answers. */
  readonly offline: boolean;
  /** Requests in flight at once, at most. */
  readonly concurrency: number;
  /** Whether to say what the run would take, and send nothing. */
  readonly dryRun: boolean;
  /** The most the run may cost, in US dollars; Infinity for no bound. */
  readonly maxCostUsd: number;
  /** What a million input tokens cost, in US dollars; null for what lists say. */
  readonly priceUsd: number | null;
  /** Whether a question about the cost is answered with yes. */
  readonly yes: boolean;
  /** Whether the state gets the recommended additions. */
  readonly context: boolean;
  /** The day ages are counted to; null for today. */
  readonly today: string | null;
  /** A file of known addresses as typed, or null. */
  readonly contacts: string | null;
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

/** Results to make a page from. */
export interface ReportCommand {
  readonly name: "report";
  /** The input file as typed. */
  readonly file: string;
}

/** One mail to explain. */
export interface ExplainCommand {
  readonly name: "explain";
  readonly id: string;
  /** The input file as typed; null for the one journal in the folder. */
  readonly file: string | null;
}

/**
 * Reads the words after the program's name.
 *
 * @throws UsageError when they name nothing that can be done.
 */
export function readArguments(words: readonly string[]): TriageCommand {
  if (words.some((word) => word === "--help" || word === "-h")) return { name: "help" };
  const [first, ...rest] = words;
  if (first === "import") return readImport(rest);
  if (first === "label") return readLabel(rest);
  if (first === "report") return readReport(rest);
  if (first === "explain") return readExplain(rest);
  return readRun(words);
}

const runOptions = {
  limit: { type: "string" },
  raw: { type: "boolean", default: false },
  "skip-invalid": { type: "boolean", default: false },
  offline: { type: "boolean", default: false },
  concurrency: { type: "string" },
  "dry-run": { type: "boolean", default: false },
  "max-cost": { type: "string" },
  price: { type: "string" },
  yes: { type: "boolean", short: "y", default: false },
  context: { type: "boolean", default: false },
  today: { type: "string" },
  contacts: { type: "string" },
  questions: { type: "string" },
  calibration: { type: "string" },
  format: { type: "string", default: "json" },
  sort: { type: "string" },
  top: { type: "string" },
} as const;

function readRun(words: readonly string[]): TriageRun {
  const { values, positionals } = parseWords(words, runOptions);
  const [file = ""] = readPositionals(positionals, ["FILE"]);
  const { raw, offline, yes, questions = null, calibration = null, sort = null } = values;
  return {
    name: "run",
    file,
    limit: readCount("--limit", values.limit, Number.POSITIVE_INFINITY),
    raw,
    skipInvalid: values["skip-invalid"],
    offline,
    concurrency: readCount("--concurrency", values.concurrency, 1),
    dryRun: values["dry-run"],
    maxCostUsd: readUsd("--max-cost", values["max-cost"]) ?? Number.POSITIVE_INFINITY,
    priceUsd: readUsd("--price", values.price),
    yes,
    ...readContext(values),
    questions,
    calibration,
    format: readWord("--format", values.format, outputFormats),
    sort,
    top: readCount("--top", values.top, Number.POSITIVE_INFINITY),
  };
}

function readCount(option: string, text: string | undefined, fallback: number): number {
  return text === undefined ? fallback : readWholeNumber(option, text, { min: 1 });
}

function readUsd(option: string, text: string | undefined): number | null {
  return text === undefined ? null : readDecimal(option, text, { what: "US dollars" });
}

function readContext(values: { context: boolean; today?: string; contacts?: string }) {
  const { context, today = null, contacts = null } = values;
  if (!context && (today ?? contacts) !== null) {
    throw new UsageError("--today and --contacts belong to --context.");
  }
  if (today !== null && !z.iso.date().safeParse(today).success) {
    throw new UsageError("--today takes a day, such as --today 2026-11-02.");
  }
  return { context, today, contacts };
}

const importOptions = {
  "sent-label": { type: "string", multiple: true },
  skipped: { type: "string" },
} as const;

function readImport(words: readonly string[]): ImportCommand {
  const { positionals, values } = parseWords(words, importOptions);
  const [source = "", output = ""] = readPositionals(positionals, ["SOURCE", "OUT.json"]);
  toOutputPath(output); // refuses what could not be triaged later
  const { "sent-label": sentLabels = [], skipped = null } = values;
  if (skipped === output) throw new UsageError("--skipped takes a file of its own.");
  return { name: "import", source, output, sentLabels, skipped };
}

const labelOptions = {
  question: { type: "string" },
  count: { type: "string", default: "40" },
  seed: { type: "string", default: "1" },
  labels: { type: "string" },
  labeler: { type: "string", default: "person" },
  port: { type: "string", default: "0" },
} as const;

function readLabel(words: readonly string[]): LabelCommand {
  const { values, positionals } = parseWords(words, labelOptions);
  const [file = ""] = readPositionals(positionals, ["FILE"]);
  return {
    name: "label",
    file,
    question: values.question ?? null,
    count: readWholeNumber("--count", values.count, { min: 1, max: 100_000 }),
    seed: readWholeNumber("--seed", values.seed, { max: 2 ** 31 }),
    labels: values.labels ?? null,
    labeler: values.labeler,
    port: readWholeNumber("--port", values.port, { max: 65_535 }),
  };
}

function readReport(words: readonly string[]): ReportCommand {
  const [file = ""] = readPositionals(parseWords(words, {}).positionals, ["FILE"]);
  return { name: "report", file };
}

function readExplain(words: readonly string[]): ExplainCommand {
  const { positionals } = parseWords(words, {});
  const [id = "", file = null] = readPositionals(positionals, ["ID", "FILE"], { optional: 1 });
  return { name: "explain", id, file };
}
