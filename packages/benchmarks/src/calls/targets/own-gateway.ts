import { loadClient } from "../../client-build/load-client.ts";
import type { Ask, TargetSurroundings } from "../target.ts";
import { apiKey } from "../../exchange/gateway-headers.ts";
import { buildAll, questionBuilder } from "./build-questions.ts";

/** This SDK as a person sets it up, with every check on. */
export async function openOwnGateway(surroundings: TargetSurroundings): Promise<Ask> {
  return openWith(surroundings, { build: questionBuilder });
}

/** The same over the global `fetch`, as in a browser. */
export async function openOwnGatewayOverFetch(surroundings: TargetSurroundings): Promise<Ask> {
  return openWith(surroundings, { build: questionBuilder, fetch: globalThis.fetch });
}

/** The same with questions built in each call, so that nothing learnt about them helps. */
export async function openOwnGatewayWithNewQuestions(
  surroundings: TargetSurroundings,
): Promise<Ask> {
  return openWith(surroundings, { build: (client) => (questions) => buildAll(client, questions) });
}

async function openWith(
  { addresses, clientFolder }: TargetSurroundings,
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
