import { toDecisionModel } from "../ai-sdk/to-decision-model.ts";
import { createEvaluator } from "../create-evaluator.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import type { GatewayWire } from "../transports/gateway/gateway-transport.ts";
import { gatewayBody } from "./email-evaluation.ts";

/** One question as the `ai` package asks it. */
export const scamQuestion = { scam: { type: "boolean", instructions: "Scam?" } } as const;

/** The gateway's answer to {@link scamQuestion}. */
export const scamBody = {
  ...gatewayBody,
  answers: { scam: { type: "boolean", probability: 0.04 } },
};

/**
 * Returns a decision model that never retries, on answers made by a test, and the bodies that were
 * sent.
 */
export function answeringModel(
  answer: () => Response = () => Response.json(scamBody),
  options: Parameters<typeof toDecisionModel>[1] = {},
  wire: GatewayWire = "evaluation-model",
) {
  const bodies: { state: unknown; questions: unknown }[] = [];
  const fetch = async (_url: string, { body }: RequestInit) => {
    bodies.push(JSON.parse(body as string));
    return answer();
  };
  const transport = gatewayTransport({ apiKey: "a-gateway-key", env: {}, fetch, wire });
  return { bodies, model: toDecisionModel(createEvaluator({ transport, maxRetries: 0 }), options) };
}
