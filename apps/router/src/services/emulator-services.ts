import { createGateway } from "ai";
import { createCatalog, createEvaluator, gatewayTransport } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { replyFetch } from "../reply/reply-fetch.ts";
import { redactor } from "../security/redactor.ts";
import type { Services } from "./services.ts";

const apiKey = "local";
const baseUrl = "http://emulator.invalid/v4/ai"; // never resolves, should a request slip past

/** The emulator in this process: no key, no network. */
export function emulatorServices(): Services {
  const emulator = createEmulator();
  const fetch: typeof globalThis.fetch = (input, init) => emulator.fetch(input, init);
  return {
    evaluator: createEvaluator({
      transport: gatewayTransport({ apiKey, baseUrl, fetch, env: {} }),
    }),
    languageModel: (modelId, listener) =>
      createGateway({ apiKey, baseURL: baseUrl, fetch: replyFetch(fetch, listener) })(modelId),
    catalog: createCatalog({ baseUrl, fetch, env: {} }),
    redact: redactor([]),
    notice:
      "Answers come from the local emulator, not from a model: set AI_GATEWAY_API_KEY to use the real service.",
    isEmulated: true,
    close: () => emulator.close(),
  };
}
