import { resolve } from "node:path";
import {
  type CliContext,
  type Command,
  createCommand,
  exitCodes,
  packageVersion,
  portNumber,
  printable,
  type Program,
  type ProgramOptions,
  runCommand,
  parseShare,
  UsageError,
  wholeNumber,
  withUsualCommand,
} from "evaluator-kit";

// The names suffice, so that `--help` does not load the client, whose messages quote neither key nor state.
const forPerson =
  /^(?:Configuration|Database|Connection|Timeout|Status|Authentication|(?:Gateway)?RateLimit|InvalidRe(?:quest|sponse)|Refusal)Error$/;

/** The program `evaluator-router`, for `runProgram`. */
export const evaluatorRouter: [Program, ProgramOptions] = [
  async (argumentWords, context) => {
    const program = await createProgram(argumentWords, context);
    const commandWords = withUsualCommand(program, argumentWords, { ...context, name: "serve" });
    return runCommand(program, commandWords, context);
  },
  { name: "The router", isForPerson: (error) => forPerson.test(error.name) },
];

// An action imports its command's code: all of it together takes a second.
async function createProgram(words: readonly string[], context: CliContext): Promise<Command> {
  const version = packageVersion(import.meta.url);
  const program = createCommand("evaluator-router", { context, version }).addHelpText(
    "after",
    "\nWithout a command: serve. .env.example lists the variables, in .env or the environment.",
  );
  addServe(program, context);
  addLogCommands(program, context);
  addEval(program, context);
  const keysCommand = program
    .command("keys")
    .description("Keep the keys of ROUTER_KEYS.")
    .helpCommand(false);
  if (words.includes("keys"))
    (await import("./keys/key-commands.ts")).addKeyCommands(keysCommand, context);
  addFit(program, context);
  addSelfCheck(program, context);
  return program;
}

function addServe(program: Command, context: CliContext): void {
  program
    .command("serve")
    .description("Start the router and its page. Without a key, the local emulator answers.")
    .option("--host <address>", "other than loopback only with a token or keys (127.0.0.1)")
    .option("--port <number>", "0 takes any free port (3000, else the next free one)", portNumber)
    .action(async ({ host, port: typedPort }) => {
      const { readRouterOptions } = await import("./router-options.ts");
      const { runRouter } = await import("./run-router.ts");
      const { env, cwd } = context;
      const typedAddress = { HOST: host, PORT: typedPort?.toString() };
      await runRouter(() => readRouterOptions(env, cwd, typedAddress), context);
    });
}

function addSelfCheck(program: Command, context: CliContext): void {
  program
    .command("self-check")
    .description("Route three known prompts and report the failures.")
    .option("--live", "ask the service that .env or the environment names, not the emulator")
    .action(async ({ live = false }) => {
      const { runSelfCheck } = await import("./self-check/run-self-check.ts");
      const hasPassed = await runSelfCheck(live, context);
      context.exitCode = hasPassed ? exitCodes.done : exitCodes.failed;
    });
}

/** Adds the commands that describe a decision log. */
function addLogCommands(program: Command, context: CliContext): void {
  const addLogCommand = (commandName: string, description: string) => {
    const command = program.command(commandName).description(description);
    return command.argument("[log]", "the decision log (ROUTER_DECISION_LOG)");
  };
  const reportCommand = addLogCommand("report", "Sum up a decision log.").option(
    "--labels <file>",
    "{ id, question, truth } by request id: counts wrong answers to clients' questions; needs ROUTER_LOG_TEXT=on",
  );
  reportCommand.action(async (logPath, { labels }) => {
    const { printTotals } = await import("./report/totals.ts");
    const { cwd, signal } = context;
    const labelFile = labels === undefined ? null : { path: resolve(cwd, labels), signal };
    context.stdout.write(await printTotals(findLog(logPath, context).path, labelFile));
  });
  addLogCommand("labels", "Count the labels in a decision log, and name their readers.").action(
    async (logPath) => {
      const { name, path } = findLog(logPath, context);
      const { readLabels } = await import("./labels/read-labels.ts");
      const { length } = await readLabels(path, (warning) => void context.stderr.write(warning));
      const readers = printable`They are read by:\n  npx evaluator-cli calibrate ${name} --answers ${name} --last\n  npx evaluator-router eval ${name}\n  npx evaluator-router fit ${name}`;
      const text = length === 0 ? "POST /feedback and the pages of /decisions add them." : readers;
      context.stdout.write(`Labels: ${length}. ${text}\n`);
    },
  );
}

/** Finds the log: a typed path is relative to the person's folder, that of the variable to the router's. */
function findLog(typedPath: string | undefined, { env, cwd }: CliContext) {
  if (typedPath !== undefined) return { name: typedPath, path: resolve(cwd, typedPath) };
  const path = env["ROUTER_DECISION_LOG"];
  if (path !== undefined) return { name: path, path };
  throw new UsageError("No decision log is named, and ROUTER_DECISION_LOG is not set.");
}

function addEval(program: Command, context: CliContext): void {
  program
    .command("eval")
    .summary("Measure the routing of labelled prompts.")
    .description(
      "It compares the routing with always the cheapest tier, always frontier, chance and prompt length.",
    )
    .argument(
      "<prompts>",
      "NDJSON: { prompt or messages, tier } or { prompt or messages, scores: { model: 0..1 }, costs? }; or the router's decision log, with POST /feedback as labels",
    )
    .option("--out <file>", "the page with the curves (PROMPTS.eval.html)")
    .option("--decisions <file>", "keeps decisions for the next run (PROMPTS.decisions.ndjson)")
    .option(
      "--draws <n>",
      "draws for each interval",
      wholeNumber({ minimum: 1, maximum: 10_000 }),
      300,
    )
    .option("--seed <n>", "seed of the draws", wholeNumber({ maximum: 2 ** 31 }), 1)
    .option("--json", "print the figures as JSON")
    .addHelpText("after", "\nThe engine and ROUTER_MIN_CONFIDENCE are those of the router.")
    .action(async (promptsFile, evalOptions) => {
      const { runEval } = await import("./eval/run-eval.ts");
      await runEval(promptsFile, evalOptions, context);
    });
}

function addFit(program: Command, context: CliContext): void {
  const fitCommand = program
    .command("fit")
    .description("Fit labelled prompts, and choose a threshold that promises quality and saving.")
    .argument("<labels>", "the prompts of eval with scores and costs; or the decision log")
    .option("--out <file>", "the fit, for ROUTER_FIT", "fit.json")
    .option("--keep-quality <share>", "the least share of frontier's quality", parseShare, 0.97)
    .option("--confidence <share>", "confidence in quality and saving", parseShare, 0.95)
    .option("--seed <n>", "seed of the folds", wholeNumber({ maximum: 2 ** 31 }), 1)
    .option("--json", "print the result as JSON")
    .action(async (labelsFile, fitOptions) => {
      const { runFit } = await import("./fit/run-fit.ts");
      await runFit(labelsFile, fitOptions, context);
    });
  fitCommand
    .command("apply")
    .description("Print the decision of a fit for each prompt, one line of JSON each.")
    .argument("<fit>", "the file of fit")
    .argument("<prompts>", "NDJSON: { id?, prompt or messages }")
    .action(async (fitPath, promptsFile) => {
      const { applyFit } = await import("./fit/run-fit.ts");
      await applyFit(fitPath, promptsFile, context);
    });
}
