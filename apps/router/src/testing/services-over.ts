import { createGateway } from "ai";
import { createCatalog, createEvaluator, gatewayTransport } from "evaluator-client";
import type { Services } from "../services/services.ts";

/** Services that send everything, once for an evaluation, through the given `fetch`. */
export function servicesOver(fetch: typeof globalThis.fetch): Services {
  const apiKey = "test-key";
  const baseUrl = "http://gateway.invalid/v4/ai";
  const transport = gatewayTransport({ apiKey, baseUrl, fetch, env: {} });
  return {
    evaluator: createEvaluator({ transport, maxRetries: 0 }),
    languageModel: createGateway({ apiKey, baseURL: baseUrl, fetch }),
    catalog: createCatalog({ baseUrl, fetch, env: {} }),
    redact: (text) => text.replaceAll(apiKey, "[secret]"),
    notice: "Answers come from a test.",
    isEmulated: false,
    close: async () => {},
  };
}
