import { type AppParts, createApp } from "../create-app.ts";
import type { Routing } from "../decision/decide.ts";
import { defaultPolicy } from "../decision/routing-policy.ts";
import { defaultTierModels } from "../options/default-tier-models.ts";
import { loadPage } from "../page/load-page.ts";
import { keepLogs } from "./keep-logs.ts";
import { keepResponse } from "./keep-response.ts";
import { keepTold } from "./planted-key.ts";
import { servicesOver } from "./services-over.ts";
import { type Differences, testGateway } from "./test-gateway.ts";

/** The origin a {@link testRouter} answers to. */
const testOrigin = "http://localhost:3000";

/** Parts of the application that a test wants different. */
export type PartDifferences = Partial<Omit<AppParts, "routing">> & Partial<Routing>;

/**
 * The application over a {@link testGateway}, with the planted key behind it; an error nobody
 * expected fails the test, and so does the key in anything it tells.
 */
export async function testRouter(
  differences: Differences = {},
  { tierModels, policy, prices, ...parts }: PartDifferences = {},
) {
  const { fetch, seen } = testGateway(differences);
  const keep = keepTold();
  const app = createApp({
    page: await loadPage({ banner: null }),
    hosts: new Set(["localhost:3000"]),
    routing: {
      services: servicesOver(fetch),
      tierModels: tierModels ?? defaultTierModels,
      policy: policy ?? defaultPolicy,
      prices: prices ?? new Map(),
    },
    reportDefect: (error) => {
      throw error;
    },
    ...parts,
    ...keepLogs(parts, keep),
  });
  const request = async (path: string, { headers, ...init }: RequestInit = {}) => {
    const own = { host: "localhost:3000", ...(headers as Record<string, string> | undefined) };
    return keepResponse(await app.request(testOrigin + path, { ...init, headers: own }), keep);
  };
  const chat = (body: unknown, init: RequestInit = {}) =>
    request("/chat", {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
      ...init,
    });
  return { app, request, chat, seen };
}
