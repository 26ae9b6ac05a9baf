import { createGateway } from "ai";
import { createCatalog, createEvaluator, gatewayTransport } from "evaluator-client";
import { createEmulator } from "evaluator-emulator";
import { replyFetch } from "../reply/reply-fetch.ts";
import type { NamedEvaluation, NamedReplies } from "./services.ts";

const apiKey = "local";
const baseUrl = "http://emulator.invalid/v4/ai"; // never resolves, should a request slip past
const name = "the local emulator";

/** The emulator in this process, with no key and no network, as who decides and who replies. */
export interface EmulatedEngines {
  readonly evaluation: NamedEvaluation;
  readonly replies: NamedReplies;
  readonly close: () => Promise<void>;
}

/** Returns the emulator's engines; its answers are never taken for those of a service. */
export function emulatedEngines(): EmulatedEngines {
  const emulator = createEmulator();
  const fetch: typeof globalThis.fetch = (input, init) => emulator.fetch(input, init);
  const transport = gatewayTransport({ apiKey, baseUrl, fetch, env: {} });
  return {
    evaluation: {
      evaluator: createEvaluator({ transport, env: {} }),
      evaluatorWire: "emulator local:emulator",
      decider: name,
    },
    replies: {
      languageModel(modelId, listener) {
        const options = { apiKey, baseURL: baseUrl, fetch: replyFetch(fetch, { listener }) };
        return createGateway(options)(modelId);
      },
      catalog: createCatalog({ baseUrl, fetch, env: {} }),
      replier: name,
    },
    close: () => emulator.close(),
  };
}
