import {
  CliError,
  describeDefect,
  type Environment,
  exitCodes,
  parseWords,
  type Program,
  type ProgramOptions,
  readPositionals,
} from "evaluator-kit";
import { ConfigurationError } from "evaluator-client";
import { createApp } from "../create-app.ts";
import { defaultPolicy } from "../decision/decision.ts";
import { defaultTierModels } from "../options/environment-schema.ts";
import { parseRouterOptions, type RouterOptions } from "../options/router-options.ts";
import { loadPage } from "../page/load-page.ts";
import { connectServices } from "../services/connect-services.ts";
import { type ChatAnswer, checkPrompts } from "./check-prompts.ts";

const name = "The self-check";

/** What the program is called, how it is typed, and whose messages are for a person. */
export const selfCheckProgramOptions: ProgramOptions = {
  name,
  help: {
    command: "npm run self-check --",
    usage: `Usage: npm run self-check -- [--live]

Routes three known prompts and reports what went wrong.

  --live  ask the service that .env or the environment names, in place of the emulator

Examples
  npm run self-check
  npm run self-check -- --live`,
  },
  isForPerson: (error) => error instanceof ConfigurationError,
};

/** Asks for the known prompts, prints what came, and returns the exit code. */
export const selfCheckProgram: Program = async (words, { env, stdout, stderr }) => {
  const passed = await runSelfCheck(selfCheckOptions(words, env), {
    write: (text) => void stdout.write(text),
    reportDefect: (error) => void stderr.write(describeDefect(error, name)),
  });
  return passed ? exitCodes.done : exitCodes.failed;
};

/** Where a self-check writes to. */
interface SelfCheckOutput {
  /** Prints a text. */
  readonly write: (text: string) => void;
  /** Called with an error nobody expected. */
  readonly reportDefect: (error: Error) => void;
}

const recordedNotice =
  "Answers are recordings, played by the local emulator; --live asks the configured service.";

/** Checks the whole router, all but its port, and returns whether every prompt passed. */
async function runSelfCheck(
  { engines, tierModels }: RouterOptions,
  { write, reportDefect }: SelfCheckOutput,
): Promise<boolean> {
  const services = connectServices(engines);
  const page = await loadPage(services);
  const hosts = new Set(["localhost"]);
  const routing = { services, tierModels, policy: defaultPolicy, prices: new Map() }; // the models are checked, not the policy
  const app = createApp({ page, hosts, routing, reportDefect });
  write(`${services.isEmulated ? recordedNotice : services.notice}\n`);
  const passed = await checkPrompts({ ask: (message) => askApp(app, message), write });
  await services.close();
  return passed;
}

/** Sends a message through the application's own `POST /chat`, without a port. */
async function askApp(app: ReturnType<typeof createApp>, message: string): Promise<ChatAnswer> {
  const response = await app.request("http://localhost/chat", {
    method: "POST",
    headers: { host: "localhost", "content-type": "application/json" },
    body: JSON.stringify({ message }),
  });
  return (await response.json()) as ChatAnswer;
}

/**
 * Returns the router's options for a self-check: the emulator with its recordings, or with `--live` the
 * configured service.
 *
 * @throws UsageError when the words mean nothing, CliError when `--live` names no service.
 */
export function selfCheckOptions(words: readonly string[], env: Environment): RouterOptions {
  const options = parseRouterOptions(env);
  const { evaluator, reply } = options.engines;
  if (!isLive(words)) {
    const ownModels = reply?.kind === "openai-compatible";
    const tierModels = ownModels ? defaultTierModels : options.tierModels; // such as the emulator has
    return { ...options, tierModels, engines: { evaluator: null, reply: null, secrets: [] } };
  }
  if (evaluator !== null && reply !== null) return options;
  throw new CliError(
    "--live asks the configured services: set AI_GATEWAY_API_KEY, or EVALUATOR_TRANSPORT and ROUTER_REPLY_BASE_URL, or leave out --live.",
  );
}

function isLive(words: readonly string[]): boolean {
  const { values, positionals } = parseWords(words, { live: { type: "boolean" } });
  readPositionals(positionals, []);
  return values.live === true;
}
