import type { EvaluationRequest } from "../../questions/request.ts";
import { headerOf, type JsonResponse } from "../../http/http-client.ts";
import { perQuestions } from "../../questions/constant-questions.ts";
import type { TransportReply } from "../transport.ts";
import { textAt, valueAt } from "../../value-at.ts";
import type { GatewayWire } from "./gateway-wire.ts";

const toQuestionsJson = perQuestions((questions) => JSON.stringify(questions));

/** The request body of one generation of the wire as JSON; the contract's is the request itself. */
export function toGatewayBody(request: EvaluationRequest, wire: GatewayWire): string {
  const state = JSON.stringify(request.state);
  const questions = toQuestionsJson(request.questions);
  if (wire === "evaluation-model") return `{"state":${state},"questions":${questions}}`;
  const part =
    typeof request.state === "string"
      ? `{"type":"text","text":${state}}`
      : `{"type":"json","value":${state}}`;
  return `{"stateParts":[${part}],"questions":${questions}}`;
}

/** The gateway's response is already in the gateway's form; only who answered is looked up. */
export function fromGatewayResponse(
  response: JsonResponse,
): Pick<TransportReply, "response" | "modelId" | "requestId"> {
  const { json } = response;
  const gateway = valueAt(json, "providerMetadata", "gateway");
  return {
    response: json,
    modelId: textAt(json, "model") ?? textAt(gateway, "routing", "canonicalSlug"),
    requestId: gatewayRequestId(response) ?? textAt(gateway, "generationId"),
  };
}

/** Returns the gateway's id of a request from the headers of its response, or null. */
export function gatewayRequestId(response: JsonResponse): string | null {
  return headerOf(response, "x-request-id") ?? headerOf(response, "x-vercel-id");
}
