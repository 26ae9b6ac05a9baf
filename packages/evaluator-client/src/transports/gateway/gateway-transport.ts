import * as z from "zod/mini";
import { apiKeyVariables, environmentNames } from "../../environment.ts";
import {
  AuthenticationError,
  ConfigurationError,
  GatewayRateLimitError,
  StatusError,
} from "../../errors.ts";
import { headerOf, type JsonResponse } from "../../http/http-response.ts";
import { textAt, valueAt } from "../../questions/json.ts";
import { type EvaluationRequest, perQuestions } from "../../questions/request.ts";
import {
  type ImageData,
  imageDataOf,
  type ImageSupport,
  isImage,
  type State,
  type StatePart,
  vendorImageLimits,
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
import { nextStep, type StatusFailure, toStatusError } from "../status-failure.ts";
import type { Transport } from "../transport.ts";

/** Writes the body of each generation of the gateway's wire; its name is also in the path and a header. */
const bodies = { "evaluation-model": toEvaluationBody, "decision-model": toDecisionBody };

/** A generation of the gateway's wire: the contract's, or its successor. */
export type GatewayWire = keyof typeof bodies;

// The gateway's own client sends bytes and rejects addresses.
const formats: ImageSupport["formats"] = ["png", "jpeg", "webp", "gif"];
const images = { ...vendorImageLimits, formats, takesAddresses: false };

/** How to reach the model through the gateway. */
export interface GatewayTransportOptions extends TransportOptions {
  /** The gateway key. @default AI_GATEWAY_API_KEY */
  apiKey?: string;
  /** Address in front of `/evaluation-model`. @default EVALUATOR_BASE_URL, else https://ai-gateway.vercel.sh/v4/ai */
  baseUrl?: string;
  /** The evaluation model's id at the gateway. @default EVALUATOR_MODEL_ID, else typesafe-ai/jev */
  modelId?: string;
  /** The generation of the wire: the contract's, or its successor. @default "evaluation-model" */
  wire?: GatewayWire;
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
  checkTransportOptions(options, "apiKey", "baseUrl", "modelId", "wire");
  const { wire = "evaluation-model" } = options;
  if (!Object.hasOwn(bodies, wire)) {
    const message = `The option "wire" is one of ${Object.keys(bodies).join(", ")}.`;
    throw new ConfigurationError(message, { option: "wire" });
  }
  const apiKey = readGatewayKey(options);
  const url = `${readGatewayBaseUrl(options)}/${wire}`;
  const variable = environmentNames.modelId;
  const modelId = readHeaderOption(options, "modelId", { variable, fallback: "typesafe-ai/jev" });
  const service: PostedService = {
    name: "gateway",
    url,
    headers: mergeHeaders(gatewayHeaders(wire, apiKey, modelId), options.headers),
    modelId,
    apiKey,
    ...(wire === "decision-model" && { images }),
    toBody: bodies[wire],
    toReply: fromGatewayResponse,
    toError: (failure) => toGatewayError(failure, wire),
  };
  return postTransport(service, options);
}

type GatewayAccess = Pick<GatewayTransportOptions, "apiKey" | "baseUrl" | "env">;

/** Returns the gateway key of the options or the environment. */
export function readGatewayKey(options: GatewayAccess): string {
  return readHeaderOption(options, "apiKey", { variable: apiKeyVariables.gateway });
}

/** Returns the gateway's base URL of the options or the environment, path prefix included. */
export function readGatewayBaseUrl(options: GatewayAccess): string {
  const variable = environmentNames.gatewayBaseUrl;
  return readBaseUrl(options, { variable, fallback: "https://ai-gateway.vercel.sh/v4/ai" });
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

/** The gateway's error body (field facts). */
const gatewayErrorBodySchema = z.looseObject({
  error: z.looseObject({ message: z.string(), type: z.nullish(z.string()) }),
  generationId: z.nullish(z.string()),
});

const toQuestionsJson = perQuestions((questions) => JSON.stringify(questions));

/** Returns the body of the contract's wire, which is the request itself. */
function toEvaluationBody({ state, questions }: EvaluationRequest): string {
  return `{"state":${JSON.stringify(state)},"questions":${toQuestionsJson(questions)}}`;
}

/** Returns the body of the successor's wire: its state is a list of parts. */
function toDecisionBody({ state, questions }: EvaluationRequest): string {
  const parts = Array.isArray(state) ? state.map(toGatewayPart) : [toWholePart(state)];
  return `{"stateParts":${JSON.stringify(parts)},"questions":${toQuestionsJson(questions)}}`;
}

function toWholePart(state: State): object {
  return typeof state === "string" ? { type: "text", text: state } : { type: "json", value: state };
}

function toGatewayPart(part: StatePart): object {
  if (typeof part === "string") return { type: "text", text: part };
  if (!isImage(part)) return { type: "json", value: part.json };
  // Addresses were rejected with the request.
  const { format, base64 } = imageDataOf(part) as ImageData;
  return { type: "file", mediaType: `image/${format}`, data: { type: "data", data: base64 } };
}

/** Returns a gateway's response with its model and id; it is in the gateway's form already. */
function fromGatewayResponse(response: JsonResponse) {
  const { json } = response;
  const gateway = valueAt(json, "providerMetadata", "gateway");
  return {
    response: json,
    modelId: textAt(json, "model") ?? textAt(gateway, "routing", "canonicalSlug"),
    requestId: gatewayRequestId(response) ?? textAt(gateway, "generationId"),
  };
}

function gatewayRequestId(response: JsonResponse): string | null {
  return headerOf(response, "x-request-id") ?? headerOf(response, "x-vercel-id");
}

/** Makes the error for an error status (contract section 7, field facts); `wire` is null if the path has only one. */
export function toGatewayError(failure: StatusFailure, wire: GatewayWire | null): StatusError {
  const { status, json } = failure.response;
  const body = gatewayErrorBodySchema.safeParse(json).data;
  const needsPaidCredits = status === 402 || /free[ -]tier/i.test(body?.error.message ?? "");
  return toStatusError(failure, {
    service: "The gateway",
    type: body?.error.type,
    text: body?.error.message,
    requestId: gatewayRequestId(failure.response),
    generationId: body?.generationId,
    needsPaidCredits,
    advice: needsPaidCredits ? "Buy credits for the account to go on." : adviceFor(status, wire),
    errorClass: errorClassFor(status, body?.error.type),
  });
}

function errorClassFor(status: number, type: string | null | undefined) {
  if (type === "rate_limit_exceeded" || status === 429) return GatewayRateLimitError;
  if (type === "authentication_error") return AuthenticationError;
  const isRequest = type === "invalid_request_error" || type === "model_not_found";
  return isRequest ? StatusError : undefined;
}

function adviceFor(status: number, wire: GatewayWire | null): string {
  if (wire === null || (status !== 400 && status !== 404)) return nextStep(status);
  const other = wire === "evaluation-model" ? "decision-model" : "evaluation-model";
  return `${nextStep(status)} If the gateway speaks the other generation, set the option wire: "${other}".`;
}
