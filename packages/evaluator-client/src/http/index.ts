export { createHttpClient } from "#http-client";
export type { HttpClient, HttpClientOptions, HttpEndpoint } from "./http-client.ts";
export type { ChunkSink, HttpResponse, StreamedResponse } from "./http-response.ts";
