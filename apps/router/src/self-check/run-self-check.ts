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
  const write = (text: string) => void stdout.write(text);
  const services = connectServices(settings);
  if (isLive && services.isEmulated) throw new CliError(unconfiguredText);
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

const unconfiguredText =
  "--live asks the configured services: set AI_GATEWAY_API_KEY, or EVALUATOR_TRANSPORT and ROUTER_REPLY_BASE_URL, or leave out --live.";

function emulatedOptions(env: Environment) {
  // The emulator has recordings of the gateway's models only, not of those of another server.
  const options = parseRouterOptions(env["ROUTER_REPLY_BASE_URL"] ? {} : env);
  return { ...options, engines: { evaluator: null, reply: null, secrets: [] } };
}

/** A prompt with its expected decision, also in words. */
interface SelfCheckPrompt {
  readonly kind: string;
  readonly message: string;
  readonly expected: string;
  readonly isExpected: (answer: Pick<ChatResponse, "tier" | "probabilities">) => boolean;
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
  ask: (message: string) => Response | Promise<Response>,
  write: (text: string) => void,
): Promise<boolean> {
  let failedCount = 0;
  for (const prompt of knownPrompts) {
    const answer = (await (await ask(prompt.message)).json()) as ChatAnswer;
    const failures = findFailures(answer, prompt);
    const verdict = failures.length === 0 ? "ok     " : "failure";
    const lines = [`${verdict}  ${prompt.kind}: ${describeDecision(answer)}`, ...failures];
    write(`${lines.join("\n         ")}\n`);
    if (failures.length > 0) failedCount += 1;
  }
  write(`${knownPrompts.length - failedCount} of ${knownPrompts.length} prompts passed\n`);
  return failedCount === 0;
}

function describeDecision(answer: ChatAnswer): string {
  if ("error" in answer) return "no decision";
  const shares = Object.entries(answer.probabilities).toSorted(([, a], [, b]) => b - a);
  return `${answer.tier} (${shares.map((share) => share.join(" ")).join(", ")})`;
}

function findFailures(
  answer: ChatAnswer,
  { expected: expectedText, isExpected }: SelfCheckPrompt,
): string[] {
  if ("error" in answer) return [`no tier was chosen: ${answer.error}`];
  const { model, reply, replyError } = answer;
  const reason = replyError ?? "it gave no text";
  return [
    ...(isExpected(answer) ? [] : [`expected ${expectedText}`]),
    ...(reply === "" ? [`the reply model ${model} failed, not the router: ${reason}`] : []),
  ];
}
