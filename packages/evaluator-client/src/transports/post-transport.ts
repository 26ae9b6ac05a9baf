import type { StatusError } from "../errors.ts";
import type { EvaluationRequest } from "../evaluation.ts";
import { isSuccess } from "../http/http-client.ts";
import { type JsonResponse, toJsonResponse } from "../http/json-response.ts";
import type { RateLimits } from "../pacing/rate-limits.ts";
import type { StatusFailure } from "./status-failure.ts";
import type { Transport, TransportReply } from "./transport.ts";
import { httpClientFor, type TransportOptions } from "./transport-options.ts";

/** What a service adds to posting, reading, redacting and classifying: its wire, mapping and error reading. */
export interface PostedService {
  /** A short name for messages, such as `gateway`. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly modelId: string;
  /** The key in use, which no error may repeat, or null. */
  readonly apiKey: string | null;
  /** The service's known limits, when it has any. */
  readonly limits?: RateLimits;
  /** Writes the body of a request as JSON. */
  toBody(request: EvaluationRequest): string;
  /** Maps a success to the gateway's form, or throws an `InvalidResponseError`. */
  toReply(response: JsonResponse): Omit<TransportReply, "status" | "headers" | "raw">;
  /** Turns an error status into the error to throw. */
  toError(failure: StatusFailure): StatusError;
}

/** Makes the transport of a service that takes one JSON body by POST and answers with another. */
export function postTransport(service: PostedService, options: TransportOptions): Transport {
  const { name, url, headers, modelId, apiKey, limits } = service;
  const endpoint = { method: "POST", url, headers } as const;
  const http = httpClientFor(options);
  const post = http.prepare(endpoint);
  return {
    name,
    target: { url, modelId },
    ...(limits && { limits }),
    async send(request, context) {
      const response = toJsonResponse(await post(service.toBody(request), context), endpoint);
      const { status, headers: received, json } = response;
      if (isSuccess(status)) {
        return { ...service.toReply(response), status, headers: received, raw: json };
      }
      const secrets = { apiKey, headers: options.headers, state: request.state };
      throw service.toError({ response, clock: context.clock, ...secrets });
    },
    close: () => http.close(),
  };
}
