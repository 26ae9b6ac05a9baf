import OpenAI from "openai";
import { parseRouterOptions } from "../../apps/router/src/router-options.ts";
import { connectServices } from "../../apps/router/src/services/connect-services.ts";
import { startTestRouter } from "../../apps/router/src/testing/test-router.ts";

interface ClientOptions {
  readonly ownServices?: boolean;
  readonly aliases?: Record<string, string>;
}

/** Starts a router and creates a client of OpenAI's package for it. */
export async function openAiClient(
  differences: Parameters<typeof startTestRouter>[0] = {},
  env: Record<string, string> = {},
  { ownServices = false, aliases = {} }: ClientOptions = {},
) {
  const services = ownServices ? connectServices(parseRouterOptions(env)) : null;
  const router = await startTestRouter(differences, {
    env,
    aliases: new Map(Object.entries(aliases)),
    ...(services !== null && { services }),
  });
  const apiKey = env["ROUTER_ACCESS_TOKEN"] ?? "any";
  return { ...router, client: new OpenAI({ apiKey, baseURL: `${router.origin}/v1` }) };
}
