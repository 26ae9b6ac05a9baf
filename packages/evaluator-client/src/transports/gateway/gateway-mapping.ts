import type { EvaluationRequest } from "../../evaluation.ts";
import type { JsonResponse } from "../../http/request-json.ts";
import type { TransportReply } from "../transport.ts";
import { gatewayRoutingSchema, type GatewayWire } from "./gateway-wire.ts";

/** The request body of one generation of the wire; the contract's is the request itself. */
export function toGatewayBody({ state, questions }: EvaluationRequest, wire: GatewayWire): object {
  if (wire === "evaluation-model") return { state, questions };
  const part =
    typeof state === "string" ? { type: "text", text: state } : { type: "json", value: state };
  return { stateParts: [part], questions };
}

/** The gateway's response is already in the gateway's form; only who answered is looked up. */
export function fromGatewayResponse({ status, json, header }: JsonResponse): TransportReply {
  const { data } = gatewayRoutingSchema.safeParse(json);
  const gateway = data?.providerMetadata.gateway;
  return {
    response: json,
    status,
    modelId: data?.model ?? gateway?.routing?.canonicalSlug ?? null,
    requestId: header("x-request-id") ?? header("x-vercel-id") ?? gateway?.generationId ?? null,
    raw: json,
  };
}
