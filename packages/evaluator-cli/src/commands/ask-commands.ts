import type { KindName } from "evaluator-client";
import { services } from "evaluator-client/services";
import {
  collect,
  type Command,
  decimal,
  examples,
  Option,
  portNumber,
  parseShare,
  wholeNumber,
} from "evaluator-kit";
import { questionsForm, sharedOptions, tokenPrice } from "evaluator-runs/commands";
import {
  type OptionsOf,
  allowUnknownOption,
  engineForms,
  jsonOption,
  labelsOption,
  lastOption,
  parseLimit,
  seedOption,
  typedKinds,
  type TypedWord,
} from "./shared-options.ts";

const engineLines = Object.entries(engineForms).map(
  ([kind, [address, service]]) => `  ${(kind + address).padEnd(26)}${service}`,
);

/** The part of a command's help that describes `--engine`. */
const engineHelp = `
Engines
${engineLines.join("\n")}
  SERVICE[=URL][@MODEL]     one of ${services.slice(0, 4).join(", ")},
                            ${services.slice(4).join(", ")}
  Missing parts and keys come from the environment:
  AI_GATEWAY_API_KEY, EVALUATOR_DIRECT_API_KEY (direct, decisions),
  EVALUATOR_LOGPROBS_API_KEY, and each service's, such as OPENAI_API_KEY. After a comma: key=VARIABLE (another variable), key=none,
  price=USD (of a million input tokens).`;

/** The option of every command that asks one engine. */
export const engineOption = new Option(
  "--engine <engine>",
  "who answers (default: EVALUATOR_TRANSPORT, else gateway)",
);

/** The commands that ask engines. */
export const askCommands = {
  ask: (program: Command, typedWords: TypedWord[]) => {
    const command = program
      .command("ask")
      .summary("ask an engine about one state")
      .description(
        "It prints every answer's probability. Questions are repeatable; an option may be name=description.",
      )
      .requiredOption("--state <file>", "JSON or text; - reads standard input")
      .option("--questions <file>", questionsForm)
      .addOption(engineOption)
      .addOption(sharedOptions.again)
      .addOption(sharedOptions.unsure)
      .addOption(sharedOptions.thenUnsure)
      .addOption(jsonOption)
      .addHelpText("after", engineHelp)
      .addHelpText(
        ...examples(
          'evaluator-cli ask --state mail.txt --boolean "Does it look like a scam?"',
          'evaluator-cli ask --state mail.json --choice "What kind is it?" "receipt=a payment receipt,other" --json',
          "cat mail.txt | evaluator-cli ask --state - --questions questions.json --engine logprobs=http://127.0.0.1:11434@qwen3:4b",
          'evaluator-cli ask --state mail.txt --boolean "Is it a scam?" --then openai --unsure 0.2..0.8',
        ),
      );
    for (const kind of Object.keys(typedKinds) as KindName[]) {
      const { names, example } = typedKinds[kind];
      const addWord = (word: string) => typedWords.push({ kind, word });
      const optionHelp = `a ${kind} question, such as ${example}`;
      command.addOption(
        new Option(`--${kind} <text>${names === null ? "" : ` ${names}`}`, optionHelp).argParser(
          addWord,
        ),
      );
    }
    return command;
  },

  doctor: (program: Command) =>
    program
      .command("doctor")
      .summary("examine a server: settings to paste, or changes to make")
      .description(
        "It reports routes, log-probabilities, tokenizer, thinking, label probability and time, in about twenty short calls; EVALUATOR_LOGPROBS_API_KEY holds the key. Of a named service it prints address, key and model, and sends nothing.\nExit code 0: usable. 1: not usable unchanged.",
      )
      .argument("<url>", "address, such as http://127.0.0.1:11434, or service, such as openrouter")
      .option("--model <model>", "model (default: the first listed)")
      .addOption(jsonOption)
      .addHelpText(
        ...examples(
          "evaluator-cli doctor http://127.0.0.1:11434",
          "evaluator-cli doctor openrouter",
          "EVALUATOR_LOGPROBS_API_KEY=… evaluator-cli doctor https://api.example.com/v1 --model small",
        ),
      ),

  mcp: (program: Command) =>
    program
      .command("mcp")
      .summary("serve the tools evaluate, estimate and list_models over MCP")
      .description(
        "It uses standard input and output, or HTTP. Identical questions are asked once.",
      )
      .option("--http <port>", "serve http://127.0.0.1:PORT/mcp; 0: any free port", portNumber)
      .addOption(engineOption)
      .option(
        "--max-cost <usd>",
        "refuse calls above this total cost (default: EVALUATOR_MAX_COST_USD, else no limit)",
        parseLimit,
      )
      .option(
        "--max-tokens <n>",
        "refuse calls above this total of tokens (default: EVALUATOR_MAX_TOKENS, else no limit)",
        parseLimit,
      )
      .option(
        "--hours <n>",
        "the limits count the last N hours (default: EVALUATOR_BUDGET_HOURS, else since the start)",
        parseLimit,
      )
      .option(
        "--price <usd>",
        "of a million tokens, if none is reported (default: EVALUATOR_USD_PER_MILLION_TOKENS)",
        tokenPrice,
      )
      .option("--calibration <file>", "calibrate with a calibration.json and add decisions")
      .addHelpText(
        "after",
        `
Settings of an assistant:
  { "mcpServers": { "evaluator": { "command": "npx", "args": ["evaluator-cli", "mcp"],
    "env": { "AI_GATEWAY_API_KEY": "…", "EVALUATOR_MAX_COST_USD": "1" } } } }
${engineHelp}`,
      )
      .addHelpText(
        ...examples(
          "AI_GATEWAY_API_KEY=… evaluator-cli mcp --max-cost 1 --hours 24",
          "evaluator-cli mcp --engine gateway=http://127.0.0.1:8787/v4/ai",
          "evaluator-cli mcp --http 8765",
        ),
      ),

  demo: (program: Command) =>
    program
      .command("demo")
      .summary("see a promise: simulated model, invented tickets, no key")
      .description(
        "400 tickets are answered, some labelled, a threshold is promised and acted on, and another model refused. Nothing leaves this machine. The other commands take its files.\nExit code 0: promised, and the other model refused. 3: no promised threshold.",
      )
      .addOption(new Option("--auto", "label without a page (default: no terminal)"))
      .addOption(new Option("--page", "label on a page (default: on a terminal)").conflicts("auto"))
      .option("--out <dir>", "the folder of the files", "evaluator-demo")
      .addOption(sharedOptions.port)
      .option("--skill <x>", "the model's: 0 none, 1 all", decimal({ max: 1 }), 0.8)
      .option("--count <n>", "labels in all", wholeNumber({ minimum: 1, maximum: 400 }), 200)
      .option("--seed <n>", "seed of the random draws", wholeNumber({ maximum: 2 ** 31 }), 1)
      .addHelpText(
        ...examples("npx evaluator-cli demo", "npx evaluator-cli demo --auto --skill 0.5"),
      ),

  compare: (program: Command) =>
    program
      .command("compare")
      .summary("compare engines on the same questions: worth, mistakes, time and cost")
      .description(
        "Answers are kept in DIR/answers.sqlite: the same command again asks only for missing ones.\nExit code 0: compared (with --margin: all are as good as the first). 1: bad input, no answers, or an engine is worse by the margin. 3: too few labels.",
      )
      .argument(
        "[labels]",
        `${labelsOption.description}; a label may hold the state; without labels: time, cost and flips only`,
      )
      .requiredOption("--engine <engine>", "an engine; give two or more", collect)
      .option(
        "--states <file>",
        "a triage journal (.triage.sqlite), or records { id, state }, or { id, … } with the other fields as state (default: the labels' field state)",
      )
      .option("--questions <file>", `${questionsForm} (default: the journal's)`)
      .option("--out <dir>", "folder of the files", "comparison")
      .option(
        "--margin <score>",
        "a Brier score up to this much higher is 'as good as the first'",
        decimal({ max: 2 }),
      )
      .option("--calibrated", "fit on one half of the labels, compare on the other")
      .addOption(
        new Option("--require <share>", "the highest risk of a promised threshold")
          .argParser(parseShare)
          .default(0.05, "5%"),
      )
      .option("--max-cost <usd>", "stop before spending more", decimal({ what: "US dollars" }))
      .option("--concurrency <n>", "requests at once", wholeNumber({ minimum: 1, maximum: 256 }), 4)
      .addOption(allowUnknownOption)
      .addOption(lastOption)
      .addOption(seedOption)
      .addOption(jsonOption)
      .addHelpText("after", engineHelp)
      .addHelpText(
        ...examples(
          "evaluator-cli compare labels.ndjson --states inbox.triage.sqlite --engine gateway --engine logprobs=http://127.0.0.1:11434@qwen3:4b --max-cost 1",
        ),
      ),
};

/** The typed options of a command. */
export type AskOptions<TName extends keyof typeof askCommands> = OptionsOf<
  (typeof askCommands)[TName]
>;

/** The options of `compare`, with its argument. */
export type CompareOptions = AskOptions<"compare"> & { readonly labels: string | undefined };
