import { parseArgs } from "node:util";
import { UsageError } from "./errors.ts";

const wrongLimit = "--limit takes a whole number from 1 up, such as --limit 20";

/** What the person asked for. */
export type TriageCommand = { readonly name: "help" } | TriageRun;

/** One run over one file. */
export interface TriageRun {
  readonly name: "run";
  /** The input file as typed. */
  readonly file: string;
  /** How many records to take from the start; Infinity for all. */
  readonly limit: number;
  /** Whether to print each call's answers and provider metadata. */
  readonly raw: boolean;
  /** Whether the emulator answers. */
  readonly offline: boolean;
}

/**
 * Reads the words after the command's name.
 *
 * @throws UsageError when they name no run: an unknown flag, not exactly one file, a wrong limit.
 */
export function parseArguments(argv: readonly string[]): TriageCommand {
  const { values, positionals } = parseWords(argv);
  if (values.help) return { name: "help" };
  const { raw, offline } = values;
  return {
    name: "run",
    file: parseFile(positionals),
    limit: parseLimit(values.limit),
    raw,
    offline,
  };
}

function parseWords(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        limit: { type: "string" },
        raw: { type: "boolean", default: false },
        offline: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(toUsageProblem(error.message));
  }
}

function parseFile(positionals: readonly string[]): string {
  const [file, ...others] = positionals;
  if (file === undefined) throw new UsageError("FILE is missing");
  if (others.length > 0) throw new UsageError(`One FILE at a time, not ${positionals.length}`);
  return file;
}

function parseLimit(limit: string | undefined): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  const count = /^\d+$/.test(limit) ? Number(limit) : 0;
  if (count < 1) throw new UsageError(wrongLimit);
  return count;
}

// Node's message goes on with advice about dashes; its first sentence names the flag.
function toUsageProblem(message: string): string {
  if (message.startsWith("Option '--limit")) return wrongLimit;
  return message.split(/[.\n]\s/, 1).join("");
}
