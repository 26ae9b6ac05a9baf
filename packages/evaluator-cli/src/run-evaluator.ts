import {
  asksForHelp,
  CliError,
  type CliContext,
  packageVersion,
  toPrintablePath,
  UsageError,
  exitCodes,
} from "evaluator-kit";
import { type Command, toUsageFailure } from "./command.ts";

/** A command as the list of them shows it. */
interface ListedCommand {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

// Each command is loaded when it is typed: all of them together take a second.
const commands: readonly ListedCommand[] = [
  {
    name: "ask",
    summary: "ask typed questions about one state, of any engine",
    load: async () => (await import("./engines/ask-command.ts")).askCommand,
  },
  {
    name: "mcp",
    summary: "serve an assistant the tools evaluate, estimate and list_models, over MCP",
    load: async () => (await import("./mcp/mcp-command.ts")).mcpCommand,
  },
  {
    name: "emulator",
    summary: "start a gateway and a vendor on this machine, without a key",
    load: async () => (await import("./emulator-command.ts")).emulatorCommand,
  },
  {
    name: "doctor",
    summary: "say what a server can do for typed questions, and what to paste or change",
    load: async () => (await import("./engines/doctor-command.ts")).doctorCommand,
  },
  {
    name: "calibrate",
    summary:
      "say whether probabilities hold on labelled records, and which threshold can be promised",
    load: async () => (await import("./calibrate/calibrate-command.ts")).calibrateCommand,
  },
  {
    name: "pick",
    summary: "draw the records to label next: a blind sheet with the probability of being drawn",
    load: async () => (await import("./pick-command.ts")).pickCommand,
  },
  {
    name: "check",
    summary: "test the thresholds of a calibration again on new labels",
    load: async () => (await import("./check-command.ts")).checkCommand,
  },
  {
    name: "drift",
    summary: "say whether a second release answers otherwise, with or without labels",
    load: async () => (await import("./drift-command.ts")).driftCommand,
  },
  {
    name: "compare",
    summary: "ask several engines the same, and say how they agree, what each is worth and costs",
    load: async () => (await import("./compare/compare-command.ts")).compareCommand,
  },
];

const known = `there are ${commands.map(({ name }) => name).join(", ")}`;
const width = Math.max(...commands.map(({ name }) => name.length));
const usage = [
  "Usage: evaluator COMMAND [options]",
  "",
  ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
  "",
  "evaluator COMMAND --help tells of its options; --version prints the version.",
  "",
  "Examples",
  '  evaluator ask --state mail.txt --boolean "Does it look like a scam?"',
  "  evaluator emulator --port 8787",
  "  evaluator mcp --max-cost 1",
  "",
  "Ends with 0: holds. 1: broken, or bad input. 3: not enough labels.",
].join("\n");

/** Runs the command that was typed and returns its exit code. */
export async function runEvaluator(words: readonly string[], context: CliContext): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined) throw toUsageFailure(`No command was given; ${known}.`, "evaluator");
  if (name === "--help" || name === "-h" || name === "help") {
    context.stdout.write(`${usage}\n`);
    return exitCodes.done;
  }
  if (name === "--version") {
    context.stdout.write(`${packageVersion(import.meta.url)}\n`);
    return exitCodes.done;
  }
  const listed = commands.find((candidate) => candidate.name === name);
  if (listed === undefined) {
    throw toUsageFailure(`"${toPrintablePath(name)}" is no command; ${known}.`, "evaluator");
  }
  const command = await listed.load();
  if (asksForHelp(rest)) {
    context.stdout.write(`${command.usage.trimEnd()}\n${examplesOf(command)}`);
    return exitCodes.done;
  }
  try {
    return await command.run(rest, context);
  } catch (error) {
    throw await toFailure(error, listed.name);
  }
}

function examplesOf({ examples }: Command): string {
  if (examples.length === 0) return "";
  return `\nExamples\n${examples.map((line) => `  ${line}\n`).join("")}`;
}

/** Returns what a command threw, in the words and with the exit code of this program. */
async function toFailure(error: unknown, name: string): Promise<unknown> {
  if (error instanceof UsageError) return toUsageFailure(error.message, `evaluator ${name}`);
  const { CalibrationInputError } = await import("evaluator-calibration");
  if (!(error instanceof CalibrationInputError)) return error;
  return new CliError(`${error.message}. Nothing was written.`, { cause: error });
}
