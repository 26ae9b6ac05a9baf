import { createGateway } from "ai";
import { createCatalog, createEvaluator } from "evaluator-client";
import { replyFetch } from "../reply/reply-fetch.ts";
import { redactor } from "../security/redactor.ts";
import { emulatorServices } from "./emulator-services.ts";
import type { GatewayOptions, Services } from "./services.ts";

/** Returns the gateway's services, or the emulator's where there is no gateway. */
export function connectServices(gateway: GatewayOptions | null): Services {
  globalThis.AI_SDK_LOG_WARNINGS = false; // the `ai` package would print them on the console
  return gateway === null ? emulatorServices() : gatewayServices(gateway);
}

/**
 * Returns the gateway for replies, and whatever the environment names for evaluations.
 *
 * @throws ConfigurationError when the environment does not say how to reach the evaluation model.
 */
function gatewayServices({ apiKey, baseUrl, env }: GatewayOptions): Services {
  const address = baseUrl === undefined ? {} : { baseURL: baseUrl };
  return {
    evaluator: createEvaluator({ env }),
    languageModel(modelId, listener) {
      const fetch = replyFetch(fetchWithoutRedirects, listener);
      return createGateway({ apiKey, ...address, fetch })(modelId);
    },
    catalog: createCatalog({ env, maxRetries: 0, deadlineMs: 5000 }),
    redact: redactor([apiKey, env["EVALUATOR_DIRECT_API_KEY"]?.trim() ?? ""]),
    notice: `Answers come from the gateway${baseUrl === undefined ? "" : ` at ${baseUrl}`}.`,
    isEmulated: false,
    close: async () => {},
  };
}

/** Another origin never sees the message: a redirect is an answer, and so a failure. */
const fetchWithoutRedirects: typeof fetch = (input, init) =>
  fetch(input, { ...init, redirect: "manual" });
