import { createGateway, experimental_decide as decide } from "ai";
import type { Ask, TargetSetUp } from "./target.ts";
import { apiKey } from "../sample-requests.ts";

/** Opens the `ai` package on the gateway, with its own checks. */
export function openAiDecide({ addresses }: TargetSetUp): Ask {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const gateway = createGateway({ apiKey, baseURL: addresses.gateway });
  const model = gateway.decisionModel("typesafe-ai/jev");
  return async (request) => (await decide({ model, ...request })).answers;
}
