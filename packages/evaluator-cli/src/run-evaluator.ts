import {
  type CliContext,
  CliError,
  copySample,
  createCommand,
  examples,
  packageVersion,
  runCommand,
} from "evaluator-kit";
import {
  addRunCommands,
  openRuns,
  openTransport,
  type ProgramContext,
  withoutKeys,
} from "evaluator-runs/commands";
import { askCommands, engineOption } from "./commands/ask-commands.ts";
import { reportCommands } from "./commands/report-commands.ts";
import type { TypedWord } from "./commands/shared-options.ts";
import { tableSource } from "./records/table-source.ts";

/** Runs the typed command and returns its exit code. */
export async function runEvaluator(
  words: readonly string[],
  machine: CliContext & Partial<typeof runServices>,
): Promise<number> {
  const context = { ...runServices, ...machine, source: tableSource, engineOption };
  const typedWords = words[0] === "help" ? [...words.slice(1), "--help"] : words;
  const [commandName, ...commandWords] = typedWords;
  if (commandName === "emulator") {
    // It declares its own options.
    const { runEmulator } = await import("evaluator-emulator/program");
    return await runEmulator(commandWords, context, "evaluator-cli emulator");
  }
  try {
    return await runCommand(createProgram(context), typedWords, context);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { CalibrationInputError } = await import("evaluator-calibration/reports");
    if (!(error instanceof CalibrationInputError)) throw error;
    throw new CliError(`${error.message}.`, { cause: error });
  }
}

// An action imports its command's code: all of it together takes a second.
function createProgram(context: ProgramContext) {
  const version = packageVersion(import.meta.url);
  const program = createCommand("evaluator-cli", { context, version })
    .addHelpText(
      ...examples(
        'evaluator-cli ask --state mail.txt --boolean "Does it look like a scam?"',
        "evaluator-cli run tickets.csv --questions q.json --state subject,body",
        "evaluator-cli emulator --port 8787",
        "evaluator-cli mcp --max-cost 1",
      ),
    )
    .addHelpText(
      "after",
      "\nExit codes: 0 done; 1 wrong input, or the result does not hold; 2 some records have no answer;\n3 too few labels.",
    );
  const typedWords: TypedWord[] = [];
  askCommands.ask(program, typedWords).action(async (options) => {
    const { ask } = await import("./engines/ask.ts");
    await ask(typedWords, options, context);
  });
  addRunCommands(program, context);
  askCommands.mcp(program).action(async (options) => {
    const { serveTools } = await import("./mcp/serve-tools.ts");
    await serveTools(options, context);
  });
  askCommands.demo(program).action(async (options) => {
    const { demo } = await import("./demo/demo.ts");
    await demo(options, context, runEvaluator);
  });
  program
    .command("sample")
    .summary("write invented tickets, questions and truths")
    .argument("[folder]", "the folder of the files", "tickets")
    .action((folder) =>
      copySample(import.meta.resolve("evaluator-fixtures/tickets"), folder, context),
    );
  program.command("emulator").summary("start a local gateway and vendor, without a key");
  askCommands.doctor(program).action(async (url, options) => {
    const { examineServer } = await import("./engines/examine-server.ts");
    await examineServer(url, options, context);
  });
  reportCommands.calibrate(program).action(async (labels, more, options) => {
    const { calibrate } = await import("./calibrate/calibrate.ts");
    await calibrate({ ...options, labels, more }, context);
  });
  reportCommands.pick(program).action(async (more, options) => {
    const { pick } = await import("./pick.ts");
    await pick(more, options, context);
  });
  reportCommands.check(program).action(async (artifact, options) => {
    const { check } = await import("./check.ts");
    await check(artifact, options, context);
  });
  reportCommands.audit(program).action(async (acts, options) => {
    const { audit } = await import("./audit.ts");
    await audit(acts, options, context);
  });
  reportCommands.drift(program).action(async (options) => {
    const { drift } = await import("./drift.ts");
    await drift(options, context);
  });
  askCommands.compare(program).action(async (labels, options) => {
    const { compare } = await import("./compare/compare.ts");
    await compare({ ...options, labels }, context);
  });
  reportCommands.record(program).action(async (names, options) => {
    const { record } = await import("./record/record.ts");
    await record({ ...options, names }, context);
  });
  return program;
}

type Services = Pick<ProgramContext, "openTransport" | "openCatalog" | "openRuns" | "mayCost">;
type ServiceOptions = Parameters<Services["openTransport"]>[0];

/** The services of runs: the typed engine, or the emulator in this process. */
const runServices: Services = {
  openTransport: async (options) =>
    options.offline === true ? await openTransport(options) : (await toEngine(options)).transport,
  async openCatalog(options) {
    if (options.offline === true) return null;
    const { findCatalog: catalogOf } = await import("./engines/engine.ts");
    // A price is worth a short wait, and no run fails for want of it.
    const catalogLimits = { env: options.env, maxRetries: 0, deadlineMs: 3000 };
    return catalogOf(await toEngine(options), catalogLimits);
  },
  openRuns,
  mayCost: async (options) => options.offline !== true && !(await toEngine(options)).isFree,
};

// Loaded late: with it the client is loaded, which --help does without.
async function toEngine({ engine, dryRun, env }: ServiceOptions) {
  const { readEngine } = await import("./engines/engine.ts");
  const orElse = ", or add --offline to let the local emulator answer";
  return readEngine(engine, dryRun === true ? await withoutKeys(env) : env, orElse);
}
