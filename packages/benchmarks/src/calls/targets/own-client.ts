import type { Question, Questions } from "evaluator-client";
import { loadClient, type Client } from "../../client-build.ts";
import { apiKey } from "../../exchange.ts";
import type { Ask, TargetSetUp } from "../target.ts";

/** This SDK as a person sets it up, with every check on. */
export async function openOwnGateway(setUp: TargetSetUp): Promise<Ask> {
  return openGateway(setUp, { build: questionBuilder });
}

/** The same over the global `fetch`, as in a browser. */
export async function openOwnGatewayOverFetch(setUp: TargetSetUp): Promise<Ask> {
  return openGateway(setUp, { build: questionBuilder, fetch: globalThis.fetch });
}

/** The same with questions built in each call, so that nothing learnt about them helps. */
export async function openOwnGatewayWithNewQuestions(setUp: TargetSetUp): Promise<Ask> {
  return openGateway(setUp, { build: (client) => (questions) => buildAll(client, questions) });
}

async function openGateway(
  { addresses, clientFolder }: TargetSetUp,
  { build, fetch }: { build: typeof questionBuilder; fetch?: typeof globalThis.fetch },
): Promise<Ask> {
  const client = await loadClient(clientFolder);
  const { createEvaluator, gatewayTransport } = client;
  const access = { apiKey, baseUrl: addresses.gateway, modelId: "typesafe-ai/jev", env: {} };
  const transport = gatewayTransport({ ...access, ...(fetch && { fetch }) });
  const evaluator = createEvaluator({ transport });
  const asked = build(client);
  return async ({ state, questions }) =>
    (await evaluator.evaluate({ state, questions: asked(questions) })).answers;
}

/** This SDK on the vendor's own API; without the vendor's limits, which would pace it. */
export async function openOwnDirect(setUp: TargetSetUp): Promise<Ask> {
  return openDirect(setUp, {});
}

/** The same over the global `fetch`. */
export async function openOwnDirectOverFetch(setUp: TargetSetUp): Promise<Ask> {
  return openDirect(setUp, { fetch: globalThis.fetch });
}

async function openDirect(
  { addresses, clientFolder }: TargetSetUp,
  options: { fetch?: typeof globalThis.fetch },
): Promise<Ask> {
  const client = await loadClient(clientFolder);
  const { createEvaluator, directTransport } = client;
  const access = { apiKey, baseUrl: addresses.direct, model: "jev-latest", env: {} };
  const transport = directTransport({ ...access, ...options });
  const evaluator = createEvaluator({ transport, limits: {} });
  const build = questionBuilder(client);
  return async ({ state, questions }) =>
    (await evaluator.evaluate({ state, questions: build(questions) })).answers;
}

/** Builds questions as a person does, with the client's own builders; once for the same ones. */
export function questionBuilder(client: Client): (questions: Questions) => Questions {
  const known = new Map<Questions, Questions>();
  return (questions) => {
    const built = known.get(questions) ?? buildAll(client, questions);
    known.set(questions, built);
    return built;
  };
}

/** Builds the same questions, as new objects. */
export function buildAll(client: Client, questions: Questions): Questions {
  const entries = Object.entries(questions);
  return Object.fromEntries(entries.map(([id, question]) => [id, build(client, question)]));
}

function build({ choice, score, boolean }: Client, question: Question): Question {
  const { type, instructions } = question;
  if (type === "choice") return choice(instructions, question.criteria);
  return type === "score" ? score(instructions, question.criteria) : boolean(instructions);
}
