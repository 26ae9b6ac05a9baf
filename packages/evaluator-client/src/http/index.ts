import { createHttpClient as createOwn } from "#http-client";
import type { HttpClient, HttpClientOptions } from "./http-client.ts";

/** Creates the HTTP client of this platform: undici's on Node, else `fetch`. */
export const createHttpClient: (options: HttpClientOptions) => HttpClient = createOwn;
export type { HttpClient, HttpClientOptions, HttpEndpoint } from "./http-client.ts";
export type { ChunkSink, HttpResponse, StreamedResponse } from "./http-response.ts";
