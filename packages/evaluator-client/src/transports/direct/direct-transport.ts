import * as z from "zod/mini";
import type { StatusError } from "../../errors.ts";
import { headerOf, type JsonResponse } from "../../http/http-response.ts";
import { rejectOption } from "../../options.ts";
import { textAt } from "../../questions/json.ts";
import type { EvaluationRequest } from "../../questions/request.ts";
import {
  checkTransportOptions,
  postTransport,
  readServer,
  type TransportOptions,
} from "../post-transport.ts";
import { nextStep, type StatusFailure, toStatusError } from "../status-failure.ts";
import type { Transport } from "../transport.ts";
import { decisionsForm } from "./decisions-wire.ts";
import { type DirectForm, type DirectReply, systemoneForm } from "./direct-wire.ts";

const forms = { systemone: systemoneForm, decisions: decisionsForm };

/** The form of the direct wire. */
export type DirectWire = keyof typeof forms;

/** How to reach the vendor's own API, or a server with the same API. */
export interface DirectTransportOptions extends TransportOptions {
  /** The vendor's key; null sends none, for servers without keys. @default EVALUATOR_DIRECT_API_KEY */
  apiKey?: string | null;
  /** Address in front of `/v1`; a `/v1` at its end is ignored. @default EVALUATOR_DIRECT_BASE_URL, else for "systemone" https://api.typesafe.ai */
  baseUrl?: string;
  /** The model's name in the body. @default EVALUATOR_MODEL_ID, else for "systemone" jev-latest */
  model?: string;
  /** The vendor's own form, or OpenAI's `/v1/decisions`, which SGLang and vLLM have too. @default "systemone" */
  wire?: DirectWire;
  /** The key in `providerMetadata` that holds confidence and legend. @default "typesafe" */
  vendor?: string;
}

/**
 * Reaches the evaluation model through the vendor's own API (contract sections 2.6 and 4.5).
 *
 * @throws {ConfigurationError} when the key, address or model is missing or an option cannot be sent.
 * @example
 * ```ts
 * const transport = directTransport({ baseUrl: "http://127.0.0.1:8080", apiKey: null });
 * ```
 */
export function directTransport(options: DirectTransportOptions = {}): Transport {
  checkTransportOptions(options, "apiKey", "baseUrl", "model", "vendor", "wire");
  const { vendor = "typesafe", wire = "systemone" } = options;
  if (!Object.hasOwn(forms, wire))
    rejectOption("wire", `is one of ${Object.keys(forms).join(", ")}`);
  const form: DirectForm = forms[wire];
  if (vendor === "" || vendor === "gateway") {
    const what = `is the vendor's key in providerMetadata, such as "typesafe"; it is neither empty nor "gateway"`;
    rejectOption("vendor", what);
  }
  const { apiKey, baseUrl, model, headers } = readServer("direct", options, form);
  const service = {
    ...form,
    name: "direct",
    url: baseUrl + form.path,
    headers,
    apiKey,
    modelId: model,
    toBody: (request: EvaluationRequest) => form.toBody(request, model),
    toReply: (response: JsonResponse, { questions }: EvaluationRequest) =>
      toReply(response, form.read(response.json, questions, vendor)),
    toError: toDirectError,
  } as const;
  return postTransport(service, options);
}

/** Puts a response into the gateway's form. */
function toReply(response: JsonResponse, read: DirectReply) {
  const { model = null, usage, answers, providerMetadata, definesConfidence = true } = read;
  return {
    response: {
      answers,
      rounding: { probabilityDecimals: 2, scoreDecimals: 2 },
      usage: { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
      warnings: [],
      providerMetadata,
    },
    modelId: model,
    requestId: requestIdOf(response),
    definesConfidence,
  };
}

function requestIdOf(response: JsonResponse): string | null {
  return headerOf(response, "x-typesafe-request-id", "x-request-id");
}

/** The vendor's error bodies: text, a named error, or a list of field errors (field facts). */
const directErrorBodySchema = z.looseObject({
  detail: z.union([
    z.string(),
    z.looseObject({ error_type: z.string(), message: z.nullish(z.string()) }),
    z.array(z.looseObject({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })),
  ]),
});

function toDirectError(failure: StatusFailure): StatusError {
  const { status, json } = failure.response;
  const { type, text } = readDetail(json);
  return toStatusError(failure, {
    service: "The vendor's API",
    type,
    text,
    requestId: requestIdOf(failure.response),
    advice: type === "max_tokens_exceeded" ? tooManyTokens : adviceFor(status, text ?? ""),
  });
}

const tooManyTokens =
  "The state and its questions are too long: at most 32k tokens for the state with the longest question, 64k in all. Cut the state or ask fewer questions.";

function adviceFor(status: number, text: string): string {
  if (status === 501) {
    return "This server runs a model that is no decision model: load one there, or read a chat model with logprobsTransport.";
  }
  const isAboutOptions = /option|choice|criteria|label/i.test(text.slice(0, 2000));
  if ((status === 400 || status === 422) && isAboutOptions) {
    return "If there are too many options: Ollama takes 2 to 26, vLLM 26 and some hosted servers 208, while the vendor takes 255. Ask with fewer, or set questionLimits.maxOptions so that more are refused before sending.";
  }
  return nextStep(status);
}

function readDetail(json: unknown): { type: string | null; text: string | null } {
  const detail = directErrorBodySchema.safeParse(json).data?.detail;
  // Other servers of this wire report errors as their chat does.
  if (detail === undefined) {
    const text = textAt(json, "error", "message") ?? textAt(json, "error");
    return { type: textAt(json, "error", "type"), text };
  }
  if (typeof detail === "string") return { type: null, text: detail };
  if (!Array.isArray(detail)) return { type: detail.error_type, text: detail.message ?? null };
  // A field error also contains the input, which no message may repeat.
  const text = detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
  return { type: null, text };
}
