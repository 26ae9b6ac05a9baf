import { CliError, type Environment, parseWords, readPositionals } from "evaluator-cli-kit";
import { createApp } from "../create-app.ts";
import { defaultPolicy } from "../decision/decision.ts";
import { defaultTierModels } from "../options/environment-schema.ts";
import { parseRouterOptions, type RouterOptions } from "../options/router-options.ts";
import { loadPage } from "../page/load-page.ts";
import { connectServices } from "../services/connect-services.ts";
import { type ChatAnswer, checkPrompts } from "./check-prompts.ts";

/** Where a self-check writes to. */
export interface SelfCheckOutput {
  /** Prints a text. */
  readonly write: (text: string) => void;
  /** Called with an error nobody expected. */
  readonly reportDefect: (error: Error) => void;
}

const recordedNotice =
  "Answers are recordings, played by the local emulator; --live asks the configured service.";

/** Checks the whole router, all but its port, and returns whether every prompt passed. */
export async function runSelfCheck(
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
