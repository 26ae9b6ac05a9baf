import type { TransportName } from "../environment.ts";
import type { StatusError } from "../errors.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import { imagesIn, type ImageSupport } from "../questions/state.ts";
import {
  type HttpClient,
  type HttpEndpoint,
  isSuccess,
  type JsonResponse,
  toJsonResponse,
} from "../http/http-client.ts";
import type { RateLimits } from "../pacing/rate-limits.ts";
import type { StatusFailure } from "./status-failure.ts";
import type { AttemptContext } from "./transport.ts";
import type { Transport, TransportReply } from "./transport.ts";
import { httpClientFor, mergeHeaders, type TransportOptions } from "./transport-options.ts";

/** The parts of a transport that differ by service: wire, mapping and reading of errors. */
export interface PostedService {
  readonly name: TransportName;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly modelId: string;
  /** The key, which no error may repeat, or null. */
  readonly apiKey: string | null;
  readonly limits?: RateLimits;
  readonly images?: ImageSupport;
  /** Additional headers of a request with images. */
  readonly imageHeaders?: Readonly<Record<string, string>>;
  toBody(request: EvaluationRequest): string;
  /** Maps a success to the gateway's form, or throws an `InvalidResponseError`. */
  toReply(
    response: JsonResponse,
    request: EvaluationRequest,
  ): Omit<TransportReply, "status" | "headers" | "raw">;
  toError(failure: StatusFailure): StatusError;
}

/** A service's connections, private text and reading of errors. */
interface JsonService extends Pick<PostedService, "apiKey" | "toError"> {
  readonly http: HttpClient;
  readonly addedHeaders: Readonly<Record<string, string>> | undefined;
}

/** Prepares requests to one endpoint; each returns JSON or throws the service's error for its status. */
export function prepareJson(endpoint: HttpEndpoint, service: JsonService) {
  const { http, apiKey, addedHeaders } = service;
  const send = http.prepare(endpoint);
  return (body: string | null, context: AttemptContext, state: unknown): Promise<JsonResponse> => {
    const { clock, headers: ofCall } = context;
    const sendThis =
      ofCall === undefined
        ? send
        : http.prepare({ ...endpoint, headers: mergeHeaders(endpoint.headers, ofCall) });
    return sendThis(body, context).then((received) => {
      const response = toJsonResponse(received, endpoint);
      if (isSuccess(response.status)) return response;
      const headers = { ...addedHeaders, ...ofCall };
      throw service.toError({ response, clock, apiKey, headers, state });
    });
  };
}

/** Makes the transport of a service that answers a JSON body with another. */
export function postTransport(service: PostedService, options: TransportOptions): Transport {
  const { name, url, headers, modelId, limits, images, imageHeaders } = service;
  const http = httpClientFor(options);
  const json = { ...service, http, addedHeaders: options.headers };
  const post = prepareJson({ method: "POST", url, headers }, json);
  const postImages =
    imageHeaders &&
    prepareJson({ method: "POST", url, headers: { ...headers, ...imageHeaders } }, json);
  return {
    name,
    target: { url, modelId },
    ...(limits && { limits }),
    ...(images && { images }),
    async send(request, context) {
      const { state } = request;
      const send = postImages && imagesIn(state).length > 0 ? postImages : post;
      const response = await send(service.toBody(request), context, state);
      const { status, headers: received, json } = response;
      return { ...service.toReply(response, request), status, headers: received, raw: json };
    },
    close: () => http.close(),
  };
}
