import { createHttpClient } from "#http-client";
import {
  baseUrlVariables,
  type Environment,
  modelVariable,
  type OwnTransportName,
  ownKeyVariables,
  programEnvironment,
} from "../environment.ts";
import { ConfigurationError, type StatusError } from "../errors.ts";
import type { AnyDispatcher, Fetch, HttpClient, HttpEndpoint } from "../http/http-client.ts";
import { isSuccess, type JsonResponse, toJsonResponse } from "../http/http-response.ts";
import { checkOptions, optionsNamed, rejectOption } from "../options.ts";
import type { EvaluationRequest } from "../questions/request.ts";
import { imagesIn } from "../questions/state.ts";
import type { ProviderOptions } from "./provider-options.ts";
import type { StatusFailure } from "./status-failure.ts";
import type { AttemptContext, Transport, TransportReply } from "./transport.ts";

/** Options that every transport takes. */
export interface TransportOptions {
  /** Headers sent with every request; they cannot replace the transport's own. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Sends through this `fetch`. @default undici's own `Pool` on Node, the global `fetch` elsewhere */
  fetch?: Fetch | undefined;
  /** On Node, sends through this dispatcher of undici, such as a `ProxyAgent`; whoever made it closes it. @default the transport's own */
  dispatcher?: AnyDispatcher | undefined;
  /** Environment variables for the options not given. @default the program's own */
  env?: Environment | undefined;
}

/** Rejects unknown options of a transport. */
export function checkTransportOptions(options: TransportOptions, ...own: readonly string[]): void {
  checkOptions(optionsNamed(...own, "headers", "fetch", "dispatcher", "env"), options);
}

/** The environment variable of an option, if any; without a fallback, the option is required. */
interface Source {
  readonly variable: string | null;
  readonly fallback?: string | null | undefined;
  /** Returns what else to say if it is missing. */
  readonly noteOfOtherKey?: (env: Environment, own: readonly string[]) => string;
}

type OptionName = "apiKey" | "baseUrl" | "model" | "modelId";
type Given = { readonly env?: Environment | undefined } & {
  readonly [TName in OptionName]?: string | null | undefined;
};

/** Returns the given value, else the variable's (blank counts as unset), else the fallback. */
function readOption(options: Given, option: OptionName, source: Source): string {
  const { variable, fallback, noteOfOtherKey } = source;
  const env = options.env ?? programEnvironment();
  const set = variable === null ? "" : env[variable]?.trim();
  const value = options[option] ?? (set || fallback);
  if (value) return value;
  const variables = variable === null ? [] : [variable];
  return missingOption(option, { variables, note: noteOfOtherKey?.(env, variables) });
}

/** Throws a `ConfigurationError` for a missing option of `owner`, which may also come from one of the variables. */
export function missingOption(
  option: string,
  details: { owner?: string; variables: readonly string[]; note?: string | undefined },
): never {
  const { owner, variables, note = "" } = details;
  const of = owner === undefined ? "" : ` for ${owner}`;
  const orSet = variables.length === 0 ? "" : ` or set ${variables.join(" or ")}`;
  const message = `No ${option}${of}: pass the option "${option}"${orSet}.${note}`;
  throw new ConfigurationError(message, { option, environmentVariable: variables[0] ?? null });
}

/** Reads an option that is sent in a header, so that it must be visible ASCII. */
export function readHeaderOption(options: Given, option: OptionName, source: Source): string {
  return checkHeaderText(readOption(options, option, source), option, source.variable);
}

/** Returns an option's text. @throws ConfigurationError if a header cannot carry it */
export function checkHeaderText(value: string, option: OptionName, variable: string | null) {
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  const what = "has a space, line break or other character that a header cannot carry";
  return rejectOption(option, what, variable);
}

/** Reads the option `baseUrl`: http or https, without credentials, query, fragment or slash at the end. */
export function readBaseUrl(options: Given, source: Source): string {
  const value = readOption(options, "baseUrl", source);
  const url = URL.canParse(value) ? new URL(value) : null;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url && isHttp && `${url.username}${url.password}${url.search}${url.hash}` === "") {
    return url.href.replace(/(?<!\/)\/+$/, "");
  }
  const what =
    "is not an http or https URL without credentials, query and fragment, such as https://example.com/v4/ai";
  return rejectOption("baseUrl", what, source.variable);
}

/**
 * Reads the options of a server with paths under `/v1`, which people copy into its address.
 *
 * @param defaults - An `apiKey` of null if a server may have no key.
 */
export function readServer(
  name: OwnTransportName,
  options: Given & TransportOptions,
  defaults: Pick<Given, "apiKey" | "baseUrl" | "model"> & Pick<Source, "noteOfOtherKey">,
) {
  const variable = ownKeyVariables[name];
  const { env = programEnvironment() } = options;
  const { apiKey: givenKey = env[variable]?.trim() || defaults.apiKey } = options;
  const apiKey =
    givenKey === null ? null : readHeaderOption(options, "apiKey", { ...defaults, variable });
  const model = readOption(options, "model", { variable: modelVariable, fallback: defaults.model });
  const urlSource = { variable: baseUrlVariables[name], fallback: defaults.baseUrl };
  const baseUrl = readBaseUrl(options, urlSource).replace(/\/v1$/, "");
  // Without a key there is no `Authorization` (field facts).
  const authorization = apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` };
  const own = { ...authorization, "Content-Type": "application/json" };
  return { apiKey, baseUrl, model, headers: mergeHeaders(own, options.headers) };
}

/** Returns the transport's own headers and the caller's, which cannot replace them. */
export function mergeHeaders(
  own: Readonly<Record<string, string>>,
  addedFields: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const reservedNames = new Set(["content-length", "host"]);
  for (const name of Object.keys(own)) reservedNames.add(name.toLowerCase());
  for (const [name, value] of Object.entries(addedFields)) {
    const isSendable = /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(value);
    if (isSendable && !reservedNames.has(name.toLowerCase())) continue;
    const problem = isSendable ? "is set by the transport itself" : "cannot be sent";
    const header = JSON.stringify(name);
    rejectOption(
      "headers",
      `has the header ${header}, which ${problem}; rename it or leave it out`,
    );
  }
  return { ...own, ...addedFields };
}

/** Returns the HTTP client for the caller's `fetch` or `dispatcher`, or the platform's own. */
export function httpClientFor({ fetch, dispatcher, env }: TransportOptions): HttpClient {
  if (fetch !== undefined && dispatcher !== undefined)
    rejectOption("fetch", 'excludes the option "dispatcher", which is for undici alone');
  if (fetch !== undefined && typeof fetch !== "function")
    rejectOption("fetch", "is no function, such as the global fetch");
  return createHttpClient({ fetch, dispatcher, env: env ?? programEnvironment() });
}

/** The parts of a transport that differ by service: wire, mapping and reading of errors. */
export interface PostedService {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly modelId: string;
  /** The key, which no error may repeat, or null. */
  readonly apiKey: string | null;
  /** What is known of it beforehand. */
  readonly facts: ServiceFacts;
  /** Additional headers of a request with images. */
  readonly imageHeaders?: Readonly<Record<string, string>>;
  toBody(request: EvaluationRequest, providerOptions?: ProviderOptions): string;
  /** Maps a success to the gateway's form, or throws an `InvalidResponseError`. */
  toReply(
    response: JsonResponse,
    request: EvaluationRequest,
  ): Omit<TransportReply, "status" | "headers" | "raw">;
  toError(failure: StatusFailure): StatusError;
  /** Returns the error status of a success that contains a failure, or null. */
  failedStatus?(json: unknown): number | null;
}

/** The parts of a transport that depend on the service alone. */
export type ServiceFacts = Omit<Transport, "name" | "target" | "estimate" | "send" | "close">;

interface JsonService extends Pick<PostedService, "apiKey" | "toError" | "failedStatus"> {
  readonly http: HttpClient;
  readonly addedHeaders: Readonly<Record<string, string>> | undefined;
}

/** Prepares requests to one endpoint; each returns JSON or throws the service's error for its status. */
export function prepareJson(endpoint: HttpEndpoint, service: JsonService) {
  const { http, apiKey, addedHeaders } = service;
  const send = http.prepare(endpoint);
  return (body: string | null, context: AttemptContext, state: unknown): Promise<JsonResponse> => {
    const { clock, headers: ofCall } = context;
    const all = ofCall && mergeHeaders(endpoint.headers, ofCall);
    return send(body, context, all).then((receivedHttpResponse) => {
      const response = toJsonResponse(receivedHttpResponse, endpoint);
      const status = isSuccess(response.status)
        ? (service.failedStatus?.(response.json) ?? null)
        : response.status;
      if (status === null) return response;
      const headers = { ...addedHeaders, ...ofCall };
      throw service.toError({ response: { ...response, status }, clock, apiKey, headers, state });
    });
  };
}

/** Makes the transport of a service that answers a JSON body with another. */
export function postTransport(
  service: PostedService,
  options: TransportOptions,
  http = httpClientFor(options),
): Transport {
  const { name, url, headers, modelId, facts, imageHeaders } = service;
  const json = { ...service, http, addedHeaders: { ...options.headers } };
  const post = prepareJson({ method: "POST", url, headers }, json);
  const postImages =
    imageHeaders &&
    prepareJson({ method: "POST", url, headers: { ...headers, ...imageHeaders } }, json);
  return {
    name,
    target: { url, modelId },
    ...facts,
    async send(request, context) {
      const { state } = request;
      const send = postImages && imagesIn(state).length > 0 ? postImages : post;
      const body = service.toBody(request, context.providerOptions);
      const response = await send(body, context, state);
      const { status, headers: receivedFields, json } = response;
      return { ...service.toReply(response, request), status, headers: receivedFields, raw: json };
    },
    close: () => http.close(),
  };
}
