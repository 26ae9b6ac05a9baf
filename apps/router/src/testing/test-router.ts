import { createApp } from "../create-app.ts";
import { defaultTierModels } from "../default-tier-models.ts";
import { loadPage } from "../page/load-page.ts";
import { servicesOver } from "./services-over.ts";
import { type Differences, testGateway } from "./test-gateway.ts";

/** The origin a {@link testRouter} answers to. */
const testOrigin = "http://localhost:3000";

/** The application over a {@link testGateway}; an error nobody expected fails the test. */
export async function testRouter(differences: Differences = {}) {
  const { fetch, seen } = testGateway(differences);
  const app = createApp({
    page: await loadPage({ banner: null }),
    hosts: new Set(["localhost:3000"]),
    services: servicesOver(fetch),
    tierModels: defaultTierModels,
    reportDefect: (error) => {
      throw error;
    },
  });
  const request = async (path: string, { headers, ...init }: RequestInit = {}) =>
    app.request(testOrigin + path, {
      ...init,
      headers: { host: "localhost:3000", ...(headers as Record<string, string> | undefined) },
    });
  const chat = (body: unknown, init: RequestInit = {}) =>
    request("/chat", {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
      ...init,
    });
  return { request, chat, seen };
}
