import * as z from "zod";

/** Names and values of the gateway's wire (contract sections 4.1 and 9; field facts for the successor). */
export const gatewayWires = {
  "evaluation-model": {
    path: "/evaluation-model",
    specificationHeader: "ai-evaluation-model-specification-version",
  },
  "decision-model": {
    path: "/decision-model",
    specificationHeader: "ai-decision-model-specification-version",
  },
} as const;

/** A generation of the gateway's wire: the contract's, or its successor. */
export type GatewayWire = keyof typeof gatewayWires;

/** The six headers of contract section 4.1, in its order. */
export function gatewayHeaders({
  apiKey,
  modelId,
  wire,
}: {
  apiKey: string;
  modelId: string;
  wire: GatewayWire;
}): Record<string, string> {
  return {
    Authorization: `Bearer ${apiKey}`,
    "ai-model-id": modelId,
    [gatewayWires[wire].specificationHeader]: "4",
    "ai-gateway-protocol-version": "0.0.1",
    "ai-gateway-auth-method": "api-key",
    "Content-Type": "application/json",
  };
}

/** The gateway's error body (field facts). */
export const gatewayErrorBodySchema = z.looseObject({
  error: z.looseObject({ message: z.string(), type: z.string().nullish() }),
  generationId: z.string().nullish(),
});
