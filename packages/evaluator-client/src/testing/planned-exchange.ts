import type { Exchange } from "../exchanges/exchange.ts";
import { readRuntime } from "../clock.ts";
import { logprobsTransport } from "../transports/logprobs/logprobs-transport.ts";
import { oneReading, privateRequest } from "./private-call.ts";

/** The origin that {@link plannedExchange} answers at; nothing reaches the real network. */
export const plannedOrigin = "http://service.example";

const { state, questions } = JSON.parse(JSON.stringify(privateRequest));
const scam = { ...questions.scam, type: "noul" };
/** The first request of a logprobs transport, which {@link transportsTo} sends as well. */
async function firstPrompt(): Promise<object> {
  const { promise, resolve } = Promise.withResolvers<object>();
  const fetch = async (_: string, { body }: RequestInit) => {
    resolve(JSON.parse(body as string));
    return new Response(null, { status: 500 });
  };
  const options = { ...oneReading, baseUrl: plannedOrigin, env: {}, fetch };
  const context = { signal: new AbortController().signal, clock: readRuntime({}).clock };
  logprobsTransport(options)
    .send(privateRequest, context)
    .catch(() => undefined);
  return promise;
}

const requests = {
  logprobs: { path: "/v1/chat/completions", body: await firstPrompt() },
  gateway: { path: "/evaluation-model", body: { state, questions } },
  direct: {
    path: "/v1/systemone",
    body: { model: "jev-latest", state, questions: { ...questions, scam } },
  },
};

/** A service that transports send to. */
export type ServiceName = keyof typeof requests;

/**
 * Returns an exchange that answers the private request, sent by the transport of that name, as
 * planned.
 */
export function plannedExchange(
  transport: ServiceName,
  {
    status = 200,
    headers = {},
    body,
  }: { status?: number; headers?: Record<string, string>; body: unknown },
): Exchange {
  const { path, body: asked } = requests[transport];
  return {
    name: `${transport} answers ${status}`,
    description: "planned by a test",
    provenance: { source: "contract", section: "none" },
    request: { method: "POST", path, headers: {}, body: asked as Exchange["request"]["body"] },
    response: {
      status,
      headers: { "content-type": "application/json", ...headers },
      body: body as Exchange["response"]["body"],
    },
  };
}
