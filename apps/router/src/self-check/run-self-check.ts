import { type CliContext, CliError, describeDefect, type Environment } from "evaluator-kit";
import { createApp } from "../create-app.ts";
import { parseRouterOptions, readRouterOptions } from "../router-options.ts";
import { loadPage } from "../page/load-page.ts";
import { connectServices } from "../services/connect-services.ts";
import type { ChatResponse } from "../decision/decision.ts";

const recordedNotice =
  "Answers are recordings, played by the local emulator; --live asks the configured service.";

/** Returns whether all prompts pass. @throws CliError if `isLive` and no service is configured. */
export async function runSelfCheck(isLive: boolean, { env, cwd, stdout, stderr }: CliContext) {
  const settings = isLive ? await readRouterOptions(env, cwd) : emulatedOptions(env);
  const writeText = (lineText: string) => void stdout.write(lineText);
  const services = connectServices(settings);
  if (isLive && services.isEmulated) throw new CliError(unconfiguredText);
  const routerApp = createApp({
    page: await loadPage(services),
    hosts: new Set(["localhost"]),
    options: parseRouterOptions({}), // the models are checked, not the policy
    services,
    prices: new Map(),
    reportDefect: (error) => void stderr.write(describeDefect(error, "The self-check")),
  });
  writeText(`${services.isEmulated ? recordedNotice : services.notice}\n`);
  const askRouter = (message: string) =>
    routerApp.request("http://localhost/chat", {
      method: "POST",
      headers: { host: "localhost", "content-type": "application/json" },
      body: JSON.stringify({ message }),
    });
  const hasPassed = await checkPrompts(askRouter, writeText);
  await services.close();
  return hasPassed;
}

const unconfiguredText =
  "--live asks the configured services: set AI_GATEWAY_API_KEY, or EVALUATOR_TRANSPORT and ROUTER_REPLY_BASE_URL, or leave out --live.";

function emulatedOptions(environment: Environment) {
  // The emulator has recordings of the gateway's models only, not of those of another server.
  const options = parseRouterOptions(environment["ROUTER_REPLY_BASE_URL"] ? {} : environment);
  return { ...options, engines: { evaluator: null, reply: null, secrets: [] } };
}

/** A prompt with its expected decision, also in words. */
interface SelfCheckPrompt {
  readonly kind: string;
  readonly message: string;
  readonly expected: string;
  readonly isExpected: (chatAnswer: Pick<ChatResponse, "tier" | "probabilities">) => boolean;
}

/** The three prompts with their expected decisions (contract section 4.6, rule 7). */
const knownPrompts: readonly SelfCheckPrompt[] = [
  {
    kind: "a bare greeting",
    message: "hi",
    expected: "the tier nano",
    isExpected: ({ tier }) => tier === "nano",
  },
  {
    kind: "a request to write code",
    message:
      "Write a TypeScript function that merges overlapping date ranges, and explain how it works.",
    expected: "the tier balanced, and a smaller share of frontier",
    isExpected: ({ tier, probabilities: { balanced: balancedTier, frontier } }) =>
      tier === "balanced" && frontier > 0 && frontier < balancedTier,
  },
  {
    kind: "a request for perfect complete code",
    message:
      "Write the perfect, complete code of a booking system for a small hotel, with payments and tests. It must have no bugs.",
    expected: "balanced and frontier to have the largest two shares",
    isExpected: ({ probabilities: { nano, fast, balanced: balancedTier, frontier } }) =>
      Math.min(balancedTier, frontier) >= Math.max(nano, fast),
  },
];

/** The answer of `POST /chat`: the contract's fields, or the error without a decision. */
type ChatAnswer = ChatResponse | { readonly error: string };

/** Sends the prompts to `POST /chat` in turn, prints each outcome, and returns whether all passed. */
export async function checkPrompts(
  askRouter: (message: string) => Response | Promise<Response>,
  write: (lineText: string) => void,
): Promise<boolean> {
  let failedCount = 0;
  for (const knownPrompt of knownPrompts) {
    const chatAnswer = (await (await askRouter(knownPrompt.message)).json()) as ChatAnswer;
    const failures = findFailures(chatAnswer, knownPrompt);
    const verdict = failures.length === 0 ? "ok     " : "failure";
    const lines = [`${verdict}  ${knownPrompt.kind}: ${describeDecision(chatAnswer)}`, ...failures];
    write(`${lines.join("\n         ")}\n`);
    if (failures.length > 0) failedCount += 1;
  }
  write(`${knownPrompts.length - failedCount} of ${knownPrompts.length} prompts passed\n`);
  return failedCount === 0;
}

function describeDecision(chatAnswer: ChatAnswer): string {
  if ("error" in chatAnswer) return "no decision";
  const tierShares = Object.entries(chatAnswer.probabilities).toSorted(([, a], [, b]) => b - a);
  return `${chatAnswer.tier} (${tierShares.map((tierShare) => tierShare.join(" ")).join(", ")})`;
}

function findFailures(
  chatAnswer: ChatAnswer,
  { expected: expectedText, isExpected }: SelfCheckPrompt,
): string[] {
  if ("error" in chatAnswer) return [`no tier was chosen: ${chatAnswer.error}`];
  const { model, reply, replyError } = chatAnswer;
  const failureReason = replyError ?? "it gave no text";
  return [
    ...(isExpected(chatAnswer) ? [] : [`expected ${expectedText}`]),
    ...(reply === "" ? [`the reply model ${model} failed, not the router: ${failureReason}`] : []),
  ];
}
