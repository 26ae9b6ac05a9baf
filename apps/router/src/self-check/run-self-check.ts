import { CliError, type CliContext, describeDefect, type Environment } from "evaluator-kit";
import { createApp } from "../create-app.ts";
import { defaultTierModels, parseRouterOptions } from "../router-options.ts";
import { loadPage } from "../page/load-page.ts";
import { connectServices } from "../services/connect-services.ts";
import { checkPrompts } from "./check-prompts.ts";

const recordedNotice =
  "Answers are recordings, played by the local emulator; --live asks the configured service.";

/** Returns whether all prompts pass. @throws CliError if `isLive` and no service is configured. */
export async function runSelfCheck(
  isLive: boolean,
  { env, stdout, stderr }: CliContext,
): Promise<boolean> {
  const settings = optionsOf(env, isLive);
  const write = (text: string) => void stdout.write(text);
  const services = connectServices(settings);
  const app = createApp({
    page: await loadPage(services),
    hosts: new Set(["localhost"]),
    options: parseRouterOptions({}), // the models are checked, not the policy
    services,
    prices: new Map(),
    reportDefect: (error) => void stderr.write(describeDefect(error, "The self-check")),
  });
  write(`${services.isEmulated ? recordedNotice : services.notice}\n`);
  const ask = (message: string) =>
    app.request("http://localhost/chat", {
      method: "POST",
      headers: { host: "localhost", "content-type": "application/json" },
      body: JSON.stringify({ message }),
    });
  const hasPassed = await checkPrompts(ask, write);
  await services.close();
  return hasPassed;
}

function optionsOf(env: Environment, isLive: boolean) {
  const options = parseRouterOptions(env);
  const { evaluator, reply } = options.engines;
  if (!isLive) {
    // The emulator has recordings of the gateway's models only.
    const tierModels = reply?.kind === "openai-compatible" ? defaultTierModels : options.tierModels;
    return { ...options, tierModels, engines: { evaluator: null, reply: null, secrets: [] } };
  }
  if (evaluator !== null && reply !== null) return options;
  throw new CliError(
    "--live asks the configured services: set AI_GATEWAY_API_KEY, or EVALUATOR_TRANSPORT and ROUTER_REPLY_BASE_URL, or leave out --live.",
  );
}
