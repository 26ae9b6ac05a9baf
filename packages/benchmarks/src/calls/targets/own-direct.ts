import { loadClient } from "../../client-build/load-client.ts";
import type { Ask, TargetSurroundings } from "../target.ts";
import { apiKey } from "../../exchange/gateway-headers.ts";
import { questionBuilder } from "./build-questions.ts";

/** This SDK on the vendor's own API; without the vendor's limits, which would pace it. */
export async function openOwnDirect(surroundings: TargetSurroundings): Promise<Ask> {
  return openWith(surroundings, {});
}

/** The same over the global `fetch`. */
export async function openOwnDirectOverFetch(surroundings: TargetSurroundings): Promise<Ask> {
  return openWith(surroundings, { fetch: globalThis.fetch });
}

async function openWith(
  { addresses, clientFolder }: TargetSurroundings,
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
