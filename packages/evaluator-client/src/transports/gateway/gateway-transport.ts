import { findHeader, type JsonResponse } from "../../http/http-response.ts";
import { checkName } from "../../options.ts";
import { mapRecord, textAt, valueAt } from "../../questions/json.ts";
import { mapWordings, wordingText } from "../../questions/wording.ts";
import { type EvaluationRequest, perQuestions } from "../../questions/request.ts";
import {
  type ImageData,
  toImageData,
  imagesAsBytes,
  isImage,
  type StatePart,
} from "../../questions/state.ts";
import {
  checkTransportOptions,
  mergeHeaders,
  type PostedService,
  postTransport,
  readBaseUrl,
  readHeaderOption,
  type TransportOptions,
} from "../post-transport.ts";
import type { Transport } from "../transport.ts";
import { gatewaySources, toGatewayError } from "./gateway-access.ts";
import {
  checkProviderOptions,
  mergeProviderOptions,
  type ProviderOptions,
} from "../provider-options.ts";

/** Writes the body of each generation of the gateway's wire; its name is also in the path and a header. */
const bodies = { "evaluation-model": toEvaluationBody, "decision-model": toDecisionBody };

/** A generation of the gateway's wire: the contract's, or its successor. */
export type GatewayWire = keyof typeof bodies;

/** How to reach the model through the gateway. */
export interface GatewayTransportOptions extends TransportOptions {
  /** The gateway key. @default AI_GATEWAY_API_KEY */
  apiKey?: string | undefined;
  /** Address in front of `/evaluation-model`. @default EVALUATOR_BASE_URL, else https://ai-gateway.vercel.sh/v4/ai */
  baseUrl?: string | undefined;
  /** The evaluation model's id at the gateway. @default EVALUATOR_MODEL_ID, else typesafe-ai/jev */
  modelId?: string | undefined;
  /** The generation of the wire: the contract's, or its successor. @default "evaluation-model" */
  wire?: GatewayWire | undefined;
  /** Routing, privacy and reports of every call, such as `{ gateway: { zeroDataRetention: true } }`. @default none */
  providerOptions?: ProviderOptions | undefined;
}

/**
 * Reaches the evaluation model through the gateway (contract section 4.1).
 *
 * @throws {ConfigurationError} when the key is missing or an option cannot be sent.
 * @example
 * ```ts
 * const evaluator = createEvaluator({ transport: gatewayTransport({ wire: "decision-model" }) });
 * ```
 */
export function gatewayTransport(options: GatewayTransportOptions = {}): Transport {
  checkTransportOptions(options, "apiKey", "baseUrl", "modelId", "wire", "providerOptions");
  const { wire = "evaluation-model", providerOptions } = options;
  if (providerOptions !== undefined) checkProviderOptions(providerOptions);
  const ofTransport = structuredClone(providerOptions);
  checkName("wire", wire, Object.keys(bodies));
  const apiKey = readHeaderOption(options, "apiKey", gatewaySources.apiKey);
  const baseUrl = readBaseUrl(options, gatewaySources.baseUrl);
  const url = `${baseUrl}/${wire}`;
  const modelId = readHeaderOption(options, "modelId", gatewaySources.modelId);
  const other = wire === "evaluation-model" ? "decision-model" : "evaluation-model";
  const ofBase = baseUrl.endsWith("/v4/ai")
    ? ""
    : " The base URL of a gateway ends with /v4/ai, this one does not.";
  const hint = `${ofBase} If the gateway speaks the other generation, set the option wire: "${other}".`;
  const service: PostedService = {
    name: "gateway",
    url,
    headers: mergeHeaders(gatewayHeaders(wire, apiKey, modelId), options.headers),
    modelId,
    apiKey,
    facts: {
      // The gateway's own client sends bytes and rejects addresses.
      ...(wire === "decision-model" && { images: imagesAsBytes }),
      checkProviderOptions,
      // Contract section 8; models of other makers read more.
      ...(modelId.startsWith("typesafe-ai/") && { mostStateTokens: 32_000 }),
    },
    toBody(request, ofCall) {
      const body = bodies[wire](request);
      const all = mergeProviderOptions(ofTransport, ofCall);
      return all ? `${body.slice(0, -1)},"providerOptions":${JSON.stringify(all)}}` : body;
    },
    toReply: fromGatewayResponse,
    toError: (failure) => toGatewayError(failure, hint),
  };
  return postTransport(service, options);
}

/** Returns the six headers of contract section 4.1, in its order. */
function gatewayHeaders(wire: GatewayWire, apiKey: string, modelId: string) {
  return {
    Authorization: `Bearer ${apiKey}`,
    "ai-model-id": modelId,
    [`ai-${wire}-specification-version`]: "4",
    "ai-gateway-protocol-version": "0.0.1",
    "ai-gateway-auth-method": "api-key",
    "Content-Type": "application/json",
  };
}

const toQuestionsJson = perQuestions((questions) => JSON.stringify(questions));

/** Returns the body of the contract's wire, which is the request itself. */
function toEvaluationBody({ state, questions }: EvaluationRequest): string {
  return `{"state":${JSON.stringify(state)},"questions":${toDescribedJson(questions)}}`;
}

/** All wordings of the contract's wire are texts (contract section 2.2), if only empty ones. */
const toDescribedJson = perQuestions((questions) =>
  JSON.stringify(mapRecord(questions, (question) => mapWordings(question, wordingText))),
);

/** Returns the body of the successor's wire: its state is a list of parts. */
function toDecisionBody({ state, questions }: EvaluationRequest): string {
  const whole: StatePart = typeof state === "string" ? state : { json: state };
  const parts = (Array.isArray(state) ? state : [whole]).map(toGatewayPart);
  return `{"stateParts":${JSON.stringify(parts)},"questions":${toQuestionsJson(questions)}}`;
}

function toGatewayPart(part: StatePart): object {
  if (typeof part === "string") return { type: "text", text: part };
  if (!isImage(part)) return { type: "json", value: part.json };
  // Addresses were rejected with the request.
  const { format, base64 } = toImageData(part) as ImageData;
  return { type: "file", mediaType: `image/${format}`, data: { type: "data", data: base64 } };
}

/** Returns a gateway's response with its model and id; it is in the gateway's form already. */
function fromGatewayResponse(response: JsonResponse) {
  const { json } = response;
  const gateway = valueAt(json, "providerMetadata", "gateway");
  return {
    response: json,
    modelId: textAt(json, "model") ?? textAt(gateway, "routing", "canonicalSlug"),
    requestId:
      findHeader(response, "x-request-id", "x-vercel-id") ?? textAt(gateway, "generationId"),
  };
}
