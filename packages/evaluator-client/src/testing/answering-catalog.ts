import type { Catalog } from "../catalog/catalog.ts";
import { createCatalog } from "../catalog/catalog.ts";

/** The key of {@link answeringCatalog}; no error may show it. */
export const catalogKey = "planted-secret-key";

/** Returns a catalog that never retries, on answers made by a test, and the URLs it asked for. */
export function answeringCatalog(
  answer: () => Response | Promise<Response>,
  options: Parameters<typeof createCatalog>[0] = {},
): { catalog: Catalog; urls: readonly string[] } {
  const urls: string[] = [];
  const fetch = async (url: string) => {
    urls.push(url);
    return answer();
  };
  const own = { apiKey: catalogKey, fetch, env: {}, maxRetries: 0 };
  return { urls, catalog: createCatalog({ ...own, ...options }) };
}
