import { UsageError } from "evaluator-cli-kit";
import { type OutputFormat, outputFormats } from "../output/write-records.ts";
import { parseWords } from "./parse-words.ts";
import { readCount, readDay, readUsd, readWord } from "./read-values.ts";

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
  /** How the results are written. */
  readonly format: OutputFormat;
  /** The field the table is sorted by; null for importance. */
  readonly sort: string | null;
  /** How many rows the table has at most. */
  readonly top: number;
}

const flags = {
  limit: { type: "string" },
  raw: { type: "boolean", default: false },
  "skip-invalid": { type: "boolean", default: false },
  offline: { type: "boolean", default: false },
  concurrency: { type: "string" },
  "dry-run": { type: "boolean", default: false },
  "max-cost": { type: "string" },
  yes: { type: "boolean", short: "y", default: false },
  context: { type: "boolean", default: false },
  today: { type: "string" },
  contacts: { type: "string" },
  questions: { type: "string" },
  format: { type: "string" },
  sort: { type: "string" },
  top: { type: "string" },
} as const;

/** Reads the words of a run. */
export function readRunArguments(words: readonly string[]): TriageRun {
  const { values, positionals } = parseWords(words, flags);
  const { raw, offline, yes } = values;
  return {
    name: "run",
    file: readFile(positionals),
    limit: readCount("--limit", values.limit, Number.POSITIVE_INFINITY),
    raw,
    skipInvalid: values["skip-invalid"],
    offline,
    concurrency: readCount("--concurrency", values.concurrency, 1),
    dryRun: values["dry-run"],
    maxCostUsd: readUsd("--max-cost", values["max-cost"]),
    yes,
    ...readContext(values),
    questions: values.questions ?? null,
    format: readWord("--format", values.format, outputFormats),
    sort: values.sort ?? null,
    top: readCount("--top", values.top, Number.POSITIVE_INFINITY),
  };
}

function readContext(values: { context: boolean; today?: string; contacts?: string }) {
  const { context, today, contacts } = values;
  if (!context && (today ?? contacts) !== undefined) {
    throw new UsageError("--today and --contacts belong to --context");
  }
  return { context, today: readDay("--today", today), contacts: contacts ?? null };
}

function readFile(positionals: readonly string[]): string {
  const [file, ...others] = positionals;
  if (file === undefined) throw new UsageError("FILE is missing");
  if (others.length > 0) throw new UsageError(`One FILE at a time, not ${positionals.length}`);
  return file;
}
