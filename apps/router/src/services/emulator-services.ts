import { createGateway } from "ai";
import { createCatalog, createEvaluator, gatewayTransport } from "evaluator-client";
import type { Emulator } from "evaluator-emulator";
import { replyFetch } from "../reply/reply-fetch.ts";
import type { EvaluationEngine, ReplyEngine, Tracing } from "./services.ts";

const apiKey = "local";
const baseUrl = "http://emulator.invalid/v4/ai"; // never resolves, should a request slip past
const name = "the local emulator";

/** The emulator in this process, with no key and no network, as who decides and who replies. */
export interface EmulatedEngines {
  readonly evaluation: EvaluationEngine;
  readonly replies: ReplyEngine;
}

/** Returns the emulator's engines; its answers are never taken for those of a service. */
export function emulatedEngines(tracing: Tracing | null): EmulatedEngines {
  let emulator: Promise<Emulator> | null = null; // loaded when it is first asked, with all its recordings
  const fetch: typeof globalThis.fetch = async (input, init) =>
    (await (emulator ??= loadEmulator())).fetch(input, init);
  const transport = gatewayTransport({ apiKey, baseUrl, fetch, env: {} });
  const evaluator = createEvaluator({
    transport,
    env: {},
    ...(tracing !== null && { tracing: tracing.evaluation }),
  });
  return {
    evaluation: {
      evaluator,
      close: () => evaluator.close(),
      engineAddress: "emulator local:emulator",
      decider: name,
    },
    replies: {
      takesOpenAi: false,
      languageModel(modelId, { listener } = {}) {
        const options = { apiKey, baseURL: baseUrl, fetch: replyFetch(fetch, { listener }) };
        return createGateway(options)(modelId);
      },
      catalog: createCatalog({ baseUrl, fetch, env: {} }),
      replier: name,
    },
  };
}

async function loadEmulator(): Promise<Emulator> {
  const { createEmulator } = await import("evaluator-emulator");
  return createEmulator();
}
