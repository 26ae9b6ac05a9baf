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
  Missing parts come from the environment, as in the client, and so do the keys:
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
      .summary("ask any engine typed questions about one state")
      .description(
        "It prints the probability of every answer. Each question may be given again; an option may be name=description.",
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
      .summary("examine a server, and print the lines to paste or the changes to make")
      .description(
        "It reports native routes, log-probabilities and how many tokens it lists, its tokenizer, whether it thinks first, how much of the probability the labels hold, and how long a call takes. It asks two questions about one sentence, in about twenty short calls; EVALUATOR_LOGPROBS_API_KEY holds the server's key, if it wants one. Of a service by name it prints address, key and model, and sends nothing.\nExit code 0: the server can be used. 1: it cannot be used unchanged.",
      )
      .argument(
        "<url>",
        "the server's address, such as http://127.0.0.1:11434, or the name of a service, such as openrouter",
      )
      .option("--model <model>", "the model's name there (default: the first that it lists)")
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
      .summary("serve an assistant the tools evaluate, estimate and list_models, over MCP")
      .description(
        "It serves standard input and output, or streamable HTTP on this machine. Identical questions are asked once.",
      )
      .option(
        "--http <port>",
        "serve http://127.0.0.1:PORT/mcp instead of standard input; 0 takes any free port",
        portNumber,
      )
      .addOption(engineOption)
      .option(
        "--max-cost <usd>",
        "refuse calls that might cost more in all (default: EVALUATOR_MAX_COST_USD, else no limit)",
        parseLimit,
      )
      .option(
        "--max-tokens <n>",
        "the same in tokens (default: EVALUATOR_MAX_TOKENS, else no limit)",
        parseLimit,
      )
      .option(
        "--hours <n>",
        "the limits hold for the last N hours (default: EVALUATOR_BUDGET_HOURS, else since the start)",
        parseLimit,
      )
      .option(
        "--price <usd>",
        "of a million tokens, if the engine reports none (default: EVALUATOR_USD_PER_MILLION_TOKENS)",
        tokenPrice,
      )
      .option(
        "--calibration <file>",
        "a calibration.json: answers of its model to its questions are calibrated, and have decisions",
      )
      .addHelpText(
        "after",
        `
An assistant's settings, with the key in its environment:
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
      .summary("see a promise in a minute: a simulated model, invented tickets, no key")
      .description(
        "The model answers 400 tickets, some are labelled, a threshold is promised and acted on, and another model is refused. No model is asked and nothing leaves this machine. The other commands take its files.\nExit code 0: promised, and the other model was refused. 3: no threshold can be promised.",
      )
      .addOption(new Option("--auto", "label without a page (default: if no terminal)"))
      .addOption(new Option("--page", "label on a page (default: on a terminal)").conflicts("auto"))
      .option("--out <dir>", "the folder of the files", "evaluator-demo")
      .addOption(sharedOptions.port)
      .option("--skill <x>", "of the model: 0 knows nothing, 1 all", decimal({ max: 1 }), 0.8)
      .option(
        "--count <n>",
        "how many labels in all",
        wholeNumber({ minimum: 1, maximum: 400 }),
        200,
      )
      .option("--seed <n>", "seed of the random draws", wholeNumber({ maximum: 2 ** 31 }), 1)
      .addHelpText(
        ...examples("npx evaluator-cli demo", "npx evaluator-cli demo --auto --skill 0.5"),
      ),

  compare: (program: Command) =>
    program
      .command("compare")
      .summary("ask several engines the same questions: worth, common mistakes, time and cost")
      .description(
        "The report also has the acts that the engines permit together. Every answer is kept in DIR/answers.sqlite: the same command again asks only for missing answers.\nExit code 0: compared (with --margin: all are as good as the first). 1: bad input, no answers, or an engine is worse by more than the margin. 3: too few labels.",
      )
      .argument(
        "[labels]",
        `${labelsOption.description}; a label may hold the state; without labels: time, cost and flips only`,
      )
      .requiredOption("--engine <engine>", "who answers; give two or more", collect)
      .option(
        "--states <file>",
        "a triage journal (.triage.sqlite), or records { id, state }; without a field state the other fields are the state (default: the labels' field state)",
      )
      .option("--questions <file>", `${questionsForm} (default: the journal's)`)
      .option("--out <dir>", "where report.html, report.json and answers.sqlite go", "comparison")
      .option(
        "--margin <score>",
        "how much higher a Brier score may be for 'as good as the first', with labels",
        decimal({ max: 2 }),
      )
      .option("--calibrated", "fit each engine on one half of the labels, and compare on the other")
      .addOption(
        new Option("--require <share>", "the highest risk of a promised threshold")
          .argParser(parseShare)
          .default(0.05, "5%"),
      )
      .option(
        "--max-cost <usd>",
        "stop before this run has spent more",
        decimal({ what: "US dollars" }),
      )
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
