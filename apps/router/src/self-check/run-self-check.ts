import { type CliContext, CliError, describeDefect, type Environment } from "evaluator-kit";
import { createApp } from "../create-app.ts";
import { readRouterOptions } from "../read-options.ts";
import { parseRouterOptions } from "../router-options.ts";
import { loadPage } from "../page/load-page.ts";
import { connectServices } from "../services/connect-services.ts";
import type { ChatResponse } from "../decision/decision.ts";
import type { Tier } from "../decision/tier-question.ts";

const recordedNotice =
  "Answers are recordings, played by the local emulator; --live asks the configured service.";

/** Returns whether all prompts pass. @throws CliError if `isLive` and no service is configured. */
export async function runSelfCheck(isLive: boolean, { env, cwd, stdout, stderr }: CliContext) {
  const settings = isLive ? await readRouterOptions(env, cwd) : emulatedOptions(env);
  const write = (text: string) => void stdout.write(text);
  const services = connectServices(settings);
  if (isLive && services.isEmulated) throw new CliError(unconfigured);
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

const unconfigured =
  "--live asks the configured services: set AI_GATEWAY_API_KEY, or EVALUATOR_TRANSPORT and ROUTER_REPLY_BASE_URL, or leave out --live.";

function emulatedOptions(env: Environment) {
  // The emulator has recordings of the gateway's models only, not of those of another server.
  const options = parseRouterOptions(env["ROUTER_REPLY_BASE_URL"] ? {} : env);
  return { ...options, engines: { evaluator: null, reply: null, secrets: [] } };
}

interface SelfCheckPrompt {
  readonly kind: string;
  readonly message: string;
  readonly expected: {
    readonly tier?: Tier;
    /** A tier with a share, but a smaller one than the chosen tier's. */
    readonly minority?: Tier;
    /** The tiers with the two largest shares, in any order. */
    readonly topTwo?: readonly [Tier, Tier];
  };
}

/** The three prompts with their expected decisions (contract section 4.6, rule 7). */
const knownPrompts: readonly SelfCheckPrompt[] = [
  { kind: "a bare greeting", message: "hi", expected: { tier: "nano" } },
  {
    kind: "a request to write code",
    message:
      "Write a TypeScript function that merges overlapping date ranges, and explain how it works.",
    expected: { tier: "balanced", minority: "frontier" },
  },
  {
    kind: "a request for perfect complete code",
    message:
      "Write the perfect, complete code of a booking system for a small hotel, with payments and tests. It must have no bugs.",
    expected: { topTwo: ["balanced", "frontier"] },
  },
];

/** The answer of `POST /chat`: the contract's fields, or the error without a decision. */
type ChatAnswer = ChatResponse | { readonly error: string };

/** Sends the prompts to `POST /chat` in turn, prints each outcome, and returns whether all passed. */
export async function checkPrompts(
  ask: (message: string) => Response | Promise<Response>,
  write: (text: string) => void,
  prompts = knownPrompts,
): Promise<boolean> {
  let failed = 0;
  for (const { kind, message, expected } of prompts) {
    const answer = (await (await ask(message)).json()) as ChatAnswer;
    const failures = findFailures(answer, expected);
    const verdict = failures.length === 0 ? "ok     " : "failure";
    const lines = [`${verdict}  ${kind}: ${describeDecision(answer)}`, ...failures];
    write(`${lines.join("\n         ")}\n`);
    if (failures.length > 0) failed += 1;
  }
  write(`${prompts.length - failed} of ${prompts.length} prompts passed\n`);
  return failed === 0;
}

function describeDecision(answer: ChatAnswer): string {
  if ("error" in answer) return "no decision";
  const shares = rankShares(answer.probabilities).map(([tier, share]) => `${tier} ${share}`);
  return `${answer.tier} (${shares.join(", ")})`;
}

function rankShares(probabilities: ChatResponse["probabilities"]): [Tier, number][] {
  const shares = Object.entries(probabilities) as [Tier, number][];
  return shares.toSorted(([, a], [, b]) => b - a);
}

function findFailures(answer: ChatAnswer, expected: SelfCheckPrompt["expected"]): string[] {
  const { tier, minority, topTwo } = expected;
  if ("error" in answer) return [`no tier was chosen: ${answer.error}`];
  const { probabilities, model, reply, replyError } = answer;
  const share = minority === undefined ? null : probabilities[minority];
  const isMinority = share === null || (share > 0 && share < probabilities[answer.tier]);
  const leaders = rankShares(probabilities).slice(0, 2);
  const areLeaders = leaders.every(([leader]) => topTwo?.includes(leader) ?? true);
  const found: [isRight: boolean, problem: string][] = [
    [answer.tier === (tier ?? answer.tier), `the tier is ${answer.tier}; expected ${tier}`],
    [isMinority, `${minority} has a share of ${share}; expected a minority`],
    [areLeaders, `the top two shares are not those of ${topTwo?.join(" and ")}`],
    [
      reply !== "",
      `the reply model ${model} failed, not the router: ${replyError ?? "it gave no text"}`,
    ],
  ];
  return found.flatMap(([isRight, problem]) => (isRight ? [] : problem));
}
