import * as z from "zod/mini";
import {
  AuthenticationError,
  GatewayRateLimitError,
  RateLimitError,
  StatusError,
  type StatusErrorDetails,
} from "../../errors.ts";
import { headerOf, type JsonResponse } from "../../http/http-client.ts";
import { textAt, valueAt } from "../../questions/json.ts";
import { type EvaluationRequest, perQuestions } from "../../questions/request.ts";
import {
  type ImageData,
  imageDataOf,
  type ImageSupport,
  isImage,
  type State,
  type StatePart,
} from "../../questions/state.ts";
import {
  commonStatusDetails,
  nextStep,
  passOnName,
  quoteServerText,
  type StatusFailure,
  statusMessage,
} from "../status-failure.ts";
import type { TransportReply } from "../transport.ts";

/** Names and values of the gateway's wire (contract sections 4.1 and 9; field facts for the successor). */
export const gatewayWires = {
  "evaluation-model": {
    path: "/evaluation-model",
    specificationHeader: "ai-evaluation-model-specification-version",
    toBody: toEvaluationBody,
  },
  "decision-model": {
    path: "/decision-model",
    specificationHeader: "ai-decision-model-specification-version",
    toBody: toDecisionBody,
  },
} as const;

/** A generation of the gateway's wire: the contract's, or its successor. */
export type GatewayWire = keyof typeof gatewayWires;

/** Returns the six headers of contract section 4.1, in its order. */
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
const gatewayErrorBodySchema = z.looseObject({
  error: z.looseObject({ message: z.string(), type: z.nullish(z.string()) }),
  generationId: z.nullish(z.string()),
});

const toQuestionsJson = perQuestions((questions) => JSON.stringify(questions));

/** Writes the body of the contract's wire, which is the request itself. */
function toEvaluationBody({ state, questions }: EvaluationRequest): string {
  return `{"state":${JSON.stringify(state)},"questions":${toQuestionsJson(questions)}}`;
}

/** Writes the body of the successor's wire: its state is a list of parts. */
function toDecisionBody({ state, questions }: EvaluationRequest): string {
  const parts = Array.isArray(state) ? state.map(toGatewayPart) : [toWholePart(state)];
  return `{"stateParts":${JSON.stringify(parts)},"questions":${toQuestionsJson(questions)}}`;
}

/**
 * The images of the successor's wire: the gateway's own client sends bytes and rejects addresses.
 * No document names a limit, so the vendor's stands for it.
 */
export const gatewayImages: ImageSupport = {
  formats: ["png", "jpeg", "webp", "gif"],
  maxBytes: 16 * 1024 * 1024,
  maxImages: 128,
  takesAddresses: false,
};

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

/** Returns a gateway's response with who answered; it is in the gateway's form already. */
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
function gatewayRequestId(response: JsonResponse): string | null {
  return headerOf(response, "x-request-id") ?? headerOf(response, "x-vercel-id");
}

/**
 * Turns an error status of the gateway into the error to throw (contract section 7, field facts).
 *
 * @param wire - The generation that was spoken, or null where there is only one.
 */
export function toGatewayError(failure: StatusFailure, wire: GatewayWire | null): StatusError {
  const { status, json } = failure.response;
  const body = gatewayErrorBodySchema.safeParse(json).data;
  const details: StatusErrorDetails = {
    ...commonStatusDetails(failure),
    type: passOnName(body?.error.type, failure),
    requestId: gatewayRequestId(failure.response),
    generationId: passOnName(body?.generationId, failure),
    needsPaidCredits: status === 402 || /free[ -]tier/i.test(body?.error.message ?? ""),
  };
  const words = quoteServerText(body?.error.message, failure);
  const message = statusMessage("The gateway", details, { words, advice: advice(details, wire) });
  return new (classFor(details))(message, details);
}

function classFor({ status, type }: StatusErrorDetails): typeof StatusError {
  if (type === "rate_limit_exceeded" || status === 429) return GatewayRateLimitError;
  if (type === "authentication_error") return AuthenticationError;
  if (type === "invalid_request_error" || type === "model_not_found") return StatusError;
  if (status === 529) return RateLimitError;
  return status === 401 || status === 403 ? AuthenticationError : StatusError;
}

function advice(
  { status, needsPaidCredits }: StatusErrorDetails,
  wire: GatewayWire | null,
): string {
  if (needsPaidCredits) return "Buy credits for the account to go on.";
  if (wire === null || (status !== 400 && status !== 404)) return nextStep(status);
  const other = wire === "evaluation-model" ? "decision-model" : "evaluation-model";
  const hint = `If the gateway speaks the other generation, set the option wire: "${other}".`;
  return `${nextStep(status)} ${hint}`;
}
