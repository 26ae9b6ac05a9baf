import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { StreamedResponse } from "evaluator-client/http";
import type { Attempt } from "./attempt.ts";
import { BrokenReplyError, brokenOff } from "./broken-reply.ts";
import { limitOutput } from "./output-limit.ts";
import { plainEvents } from "./plain-events.ts";
import { readText } from "./read-body.ts";
import type { ProviderRequest, Target } from "./upstream.ts";

interface ModelCall {
  readonly attempt: Pick<Attempt, "signal">;
  readonly options: LanguageModelV4CallOptions;
  /** Returns the request with another body and the call's headers: the provider gives only the rest. */
  readonly change?: (request: ProviderRequest) => ProviderRequest;
  /** Called with the JSON of each event that the provider reads. */
  readonly onEvent?: (eventJson: string) => void;
}

/**
 * Calls a model through its provider, which knows the service's addresses, keys and errors. A
 * provider's chain of web streams costs twice as much for each delta as everything else (benchmark
 * `stream`), so the caller takes responses that need none, and the provider waits for them in vain.
 */
export async function callModel(
  { upstream, model }: Target,
  { options, attempt: { signal }, change, onEvent }: ModelCall,
  isTaken: (response: StreamedResponse) => boolean,
) {
  const { type } = upstream;
  const headerNames = Object.keys(options.headers ?? {}).join();
  const handover = Promise.withResolvers<{ takenResponse: StreamedResponse; stream?: undefined }>();
  const sendRequest = async (requestUrl: string, request: ProviderRequest) => {
    const { headers, body } = change?.(request) ?? request;
    const limitedBody = limitOutput(body, { type, model, most: options.maxOutputTokens });
    return upstream.send(requestUrl, { headers, body: limitedBody }, signal);
  };
  let sentResponse: Promise<StreamedResponse> | null = null;
  const languageModel = await upstream.languageModel(model, signal, async (url, request) => {
    const response = await (sentResponse ?? sendRequest(url, request));
    const isOk = isSuccess(response);
    if (isOk && change !== undefined) {
      const { headers } = request;
      keptRequests.set(languageModel, { url, request: { headers, body: "" }, headerNames });
    }
    if (isOk && isTaken(response)) {
      handover.resolve({ takenResponse: response });
      return Promise.withResolvers<never>().promise;
    }
    const replyBody = isOk ? plainEvents(response, type, onEvent) : await readError(response);
    return toResponse(response, replyBody);
  });
  const keptRequest = change && keptRequests.get(languageModel);
  if (keptRequest?.headerNames === headerNames) {
    sentResponse = sendRequest(keptRequest.url, keptRequest.request);
    const takenResponse = await sentResponse.catch(() => null); // the provider gets the same failure
    if (takenResponse !== null && isSuccess(takenResponse) && isTaken(takenResponse))
      return { takenResponse };
  }
  const streamedPromise: Promise<{ stream: ReadableStream<object>; takenResponse?: undefined }> =
    Promise.resolve(languageModel.doStream({ ...options, abortSignal: signal }));
  return Promise.race([streamedPromise, handover.promise]);
}

const isSuccess = ({ status }: StreamedResponse) => status >= 200 && status < 300;

/** The last request of a provider's model whose body was replaced, and the names of its call's headers. */
interface KeptRequest {
  readonly url: string;
  readonly request: ProviderRequest;
  readonly headerNames: string;
}

/** The next request differs only in the values of its call's headers; to write it costs a 20th of a message. */
const keptRequests = new WeakMap<LanguageModelV4, KeptRequest>();

/** Returns the body of an error; one that is cut or cannot be decoded is empty, so that its status is seen. */
async function readError(response: StreamedResponse): Promise<string> {
  return readText(response).catch((error: unknown) => {
    if (error instanceof BrokenReplyError && error.message === brokenOff) return "";
    throw error;
  });
}

/** Returns a response for a provider, with the words that a `Response` may have. */
function toResponse(
  { status, statusText, headers }: StreamedResponse,
  replyBody: string | ReadableStream,
): Response {
  const headerEntries = Object.entries(headers).map(
    ([headerName, headerValue]) => [headerName, String(headerValue)] as [string, string],
  );
  return new Response([204, 205, 304].includes(status) ? null : replyBody, {
    status: Math.min(status, 599),
    statusText: isLatin.test(statusText) ? statusText : "",
    headers: headerEntries.filter(([, headerValue]) => isLatin.test(headerValue)),
  });
}

const isLatin = /^[\t\x20-\xff]*$/;
