import { createGateway } from "ai";
import { createCatalog, createEvaluator, gatewayTransport } from "evaluator-client";
import { replyFetch } from "../reply/reply-fetch.ts";
import { redactor } from "../security/redactor.ts";
import type { Services } from "../services/services.ts";
import { plantedKey } from "./planted-key.ts";

/** Services that send everything, once for an evaluation, through the given `fetch`. */
export function servicesOver(fetch: typeof globalThis.fetch): Services {
  const apiKey = plantedKey;
  const baseUrl = "http://gateway.invalid/v4/ai";
  const transport = gatewayTransport({ apiKey, baseUrl, fetch, env: {} });
  return {
    evaluator: createEvaluator({ transport, maxRetries: 0 }),
    languageModel: (modelId, listener) =>
      createGateway({ apiKey, baseURL: baseUrl, fetch: replyFetch(fetch, listener) })(modelId),
    catalog: createCatalog({ baseUrl, fetch, env: {} }),
    redact: redactor([apiKey]),
    notice: "Answers come from a test.",
    isEmulated: false,
    close: async () => {},
  };
}
