import {
  parseWords,
  readDecimal,
  readPositionals,
  readWholeNumber,
  readWord,
  readWordList,
  UsageError,
} from "evaluator-kit";
import { z } from "zod";
import type { StateOptions } from "./input/record-source.ts";
import { toOutputPath } from "./output/paths.ts";
import { outputFormats } from "./output/write-records.ts";
import { checkSince } from "./rules/record-filter.ts";

export type TypedCommand = ReturnType<typeof readArguments>;
export type RunCommand = ReturnType<typeof readRun>;
export type ImportCommand = ReturnType<typeof readImport>;
export type LabelCommand = ReturnType<typeof readLabel>;
export type ReportCommand = ReturnType<typeof readReport>;
export type ExplainCommand = ReturnType<typeof readExplain>;
export type ExportCommand = ReturnType<typeof readExport>;
export type QueryCommand = ReturnType<typeof readQuery>;
export type QuestionsCommand = ReturnType<typeof readQuestionsCommand>;
export type StatusCommand = ReturnType<typeof readStatus>;
export type WorkCommand = ReturnType<typeof readWork>;
export type AskingOptions = ReturnType<typeof readAsking>;

/** Reads the words after the program's name. @throws UsageError when they name no command. */
export function readArguments(words: readonly string[], stateFields: readonly string[]) {
  checkUrls(words);
  const [first, ...rest] = words;
  if (first === "import") return readImport(rest);
  if (first === "label") return readLabel(rest);
  if (first === "report") return readReport(rest);
  if (first === "explain") return readExplain(rest);
  if (first === "export") return readExport(rest);
  if (first === "query") return readQuery(rest);
  if (first === "questions") return readQuestionsCommand(rest);
  if (first === "status") return readStatus(rest);
  if (first === "work") return readWork(rest);
  return readRun(first === "run" ? rest : words, stateFields);
}

// A usage error quotes what it cannot use, and this holds a password.
function checkUrls(words: readonly string[]): void {
  const isUrl = /^postgres(?:ql)?:/i;
  if (words.some((word, at) => isUrl.test(word) && words[at - 1] !== "--journal")) {
    throw new UsageError("The URL of a database belongs after --journal, or into TRIAGE_JOURNAL.");
  }
}

const askingOptions = {
  journal: { type: "string" },
  offline: { type: "boolean", default: false },
  concurrency: { type: "string" },
  price: { type: "string" },
  rate: { type: "string" },
} as const;
type AskingValues = ReturnType<typeof parseWords<typeof askingOptions>>["values"];

function readAsking(values: AskingValues) {
  return {
    journal: values.journal ?? null,
    offline: values.offline,
    concurrency: readCount("--concurrency", values.concurrency, 1),
    priceUsd: readUsd("--price", values.price),
    requestsPerMinute:
      values.rate === undefined ? null : readWholeNumber("--rate", values.rate, { min: 1 }),
  };
}

const filterOptions = { since: { type: "string" }, only: { type: "string" } } as const;

function readFilterOptions(values: { since?: string; only?: string }) {
  const { since = null, only = null } = values;
  checkSince(since);
  return { since, only };
}

const runOptions = {
  ...askingOptions,
  limit: { type: "string" },
  raw: { type: "boolean", default: false },
  "skip-invalid": { type: "boolean", default: false },
  "dry-run": { type: "boolean", default: false },
  "max-cost": { type: "string" },
  yes: { type: "boolean", short: "y", default: false },
  context: { type: "boolean", default: false },
  today: { type: "string" },
  contacts: { type: "string" },
  "state-fields": { type: "string" },
  questions: { type: "string" },
  calibration: { type: "string" },
  format: { type: "string", default: "json" },
  sort: { type: "string" },
  top: { type: "string" },
  ...filterOptions,
} as const;

function readRun(words: readonly string[], stateFields: readonly string[]) {
  const { values, positionals } = parseWords(words, runOptions);
  const [file = ""] = readPositionals(positionals, ["FILE"]);
  const { raw, yes, questions = null, calibration = null, sort = null } = values;
  const fields = values["state-fields"];
  const state: StateOptions = {
    ...readContext(values),
    stateFields: fields === undefined ? [] : readWordList("--state-fields", fields, stateFields),
  };
  return {
    name: "run" as const,
    file,
    limit: readCount("--limit", values.limit, Number.POSITIVE_INFINITY),
    raw,
    skipInvalid: values["skip-invalid"],
    ...readAsking(values),
    dryRun: values["dry-run"],
    maxCostUsd: readUsd("--max-cost", values["max-cost"]) ?? Number.POSITIVE_INFINITY,
    yes,
    state,
    questions,
    calibration,
    format: readWord("--format", values.format, outputFormats),
    sort,
    top: readCount("--top", values.top, Number.POSITIVE_INFINITY),
    ...readFilterOptions(values),
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
function readImport(words: readonly string[]) {
  const { positionals, values } = parseWords(words, importOptions);
  const [source = "", output = ""] = readPositionals(positionals, ["SOURCE", "OUT.json"]);
  toOutputPath(output); // rejects what could not be triaged later
  if (!output.endsWith(".json")) throw new UsageError("OUT.json is to end in .json.");
  const { "sent-label": sentLabels = [], skipped = null } = values;
  if (skipped === output) throw new UsageError("--skipped takes a file of its own.");
  return { name: "import" as const, source, output, sentLabels, skipped };
}

const labelOptions = {
  question: { type: "string" },
  count: { type: "string", default: "40" },
  seed: { type: "string", default: "1" },
  labels: { type: "string" },
  labeler: { type: "string", default: "person" },
  port: { type: "string", default: "0" },
} as const;
function readLabel(words: readonly string[]) {
  const { values, positionals } = parseWords(words, labelOptions);
  const [file = ""] = readPositionals(positionals, ["FILE"]);
  return {
    name: "label" as const,
    file,
    question: values.question ?? null,
    count: readWholeNumber("--count", values.count, { min: 1, max: 100_000 }),
    seed: readWholeNumber("--seed", values.seed, { max: 2 ** 31 }),
    labels: values.labels ?? null,
    labeler: values.labeler,
    port: readWholeNumber("--port", values.port, { max: 65_535 }),
  };
}

const oneRunOptions = { journal: { type: "string" }, run: { type: "string" } } as const;

function readOneRun({ journal, run }: { journal?: string; run?: string }) {
  return {
    journal: journal ?? null,
    run: run === undefined ? null : readWholeNumber("--run", run, { min: 1 }),
  };
}

const reportOptions = {
  ...oneRunOptions,
  ...filterOptions,
  calibration: { type: "string" },
  rules: { type: "string" },
} as const;

function readReport(words: readonly string[]) {
  const { values, positionals } = parseWords(words, reportOptions);
  const [file = null] = readPositionals(positionals, ["FILE"], { optional: 1 });
  const { calibration = null, rules = null } = values;
  const shown = readFilterOptions(values);
  return { name: "report" as const, file, ...readOneRun(values), ...shown, calibration, rules };
}

function readExplain(words: readonly string[]) {
  const { values, positionals } = parseWords(words, oneRunOptions);
  const [id = "", file = null] = readPositionals(positionals, ["ID", "FILE"], { optional: 1 });
  return { name: "explain" as const, id, file, ...readOneRun(values) };
}

const exportOptions = { ...reportOptions, format: { type: "string", default: "json" } } as const;

function readExport(words: readonly string[]) {
  const { values, positionals } = parseWords(words, exportOptions);
  const [file = null] = readPositionals(positionals, ["FILE"], { optional: 1 });
  const format = readWord("--format", values.format, outputFormats);
  const { calibration = null, rules = null } = values;
  const shown = { ...readOneRun(values), ...readFilterOptions(values), format };
  return { name: "export" as const, file, ...shown, calibration, rules };
}

const queryOptions = {
  ...oneRunOptions,
  format: { type: "string" },
  timeout: { type: "string", default: "60" },
  rows: { type: "string", default: "1000000" },
  "allow-superuser": { type: "boolean", default: false },
} as const;

function readQuery(words: readonly string[]) {
  const { values, positionals } = parseWords(words, queryOptions);
  const named = readPositionals(positionals, ["QUERY", "FILE"], { optional: 2 });
  // All other commands take the file first. One word without a space is no query.
  const isFileFirst = /^(?:-|\S+\.(?:json|ndjson|jsonl|sqlite))$/i.test(named[0] ?? "");
  const [text = null, file = null] = isFileFirst ? [named[1], named[0]] : named;
  const formats = ["table", ...outputFormats] as const;
  const format = values.format === undefined ? null : readWord("--format", values.format, formats);
  const timeoutSeconds = readWholeNumber("--timeout", values.timeout, { min: 1, max: 3600 });
  const rows = readWholeNumber("--rows", values.rows, { min: 1 });
  const limits = { timeoutSeconds, rows, allowSuperuser: values["allow-superuser"] };
  return { name: "query" as const, text, file, ...readOneRun(values), format, ...limits };
}

function readQuestionsCommand(words: readonly string[]) {
  const { positionals } = parseWords(words, {});
  const [verb = "", file = null] = readPositionals(positionals, ["check", "FILE"], { optional: 1 });
  if (verb === "schema" && file === null) return { name: "questions" as const, file };
  if (verb === "check" && file !== null) return { name: "questions" as const, file };
  throw new UsageError('Write "questions check FILE", or "questions schema" alone.');
}

function readStatus(words: readonly string[]) {
  const { values, positionals } = parseWords(words, oneRunOptions);
  const [file = null] = readPositionals(positionals, ["FILE"], { optional: 1 });
  return { name: "status" as const, file, ...readOneRun(values) };
}

const workOptions = {
  ...askingOptions,
  run: { type: "string" },
  wait: { type: "boolean", default: false },
} as const;

function readWork(words: readonly string[]) {
  const { values, positionals } = parseWords(words, workOptions);
  const [file = null] = readPositionals(positionals, ["FILE"], { optional: 1 });
  const { wait } = values;
  return { name: "work" as const, file, ...readAsking(values), run: readOneRun(values).run, wait };
}
