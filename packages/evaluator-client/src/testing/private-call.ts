import { inspect } from "node:util";
import { expect } from "vitest";
import { createEvaluator } from "../create-evaluator.ts";
import type { EvaluatorError } from "../errors.ts";
import type { Clock } from "../clock.ts";
import type { EvaluateOptions } from "../evaluator-options.ts";
import { directTransport } from "../transports/direct/direct-transport.ts";
import { gatewayTransport } from "../transports/gateway/gateway-transport.ts";
import { logprobsTransport } from "../transports/logprobs/logprobs-transport.ts";
import type { Transport } from "../transports/transport.ts";
import { emailRequest } from "./email-evaluation.ts";
import { servers } from "./socket-server.ts";

/** Words that stand in the secrets of a call, and nowhere else. */
export const secretWords = /quagga|0123456789abcdef/i;
/** A key that no error may show. */
export const privateKey = "sk_quagga_0123456789abcdef";
/** A header value that no error may show. */
export const privateHeader = "quagga:tenant";
/** A request whose state no error may show. */
export const privateRequest = {
  ...emailRequest,
  state: { from: "quagga@example.com", subject: "Quagga, the private letter of a person" },
};

const secrets = { apiKey: privateKey, headers: { "x-tenant": privateHeader }, env: {} };
const overFetch = { ...secrets, fetch: (url: string, init: RequestInit) => fetch(url, init) };
/** A chat server that is asked once for each question. */
const oneReading = { server: "openai", model: "a-model", debias: "raw" } as const;

/** Each transport over both HTTP clients, to a base URL. */
export const transportsTo: Record<string, (baseUrl: string) => Transport> = {
  "gateway over undici": (baseUrl) => gatewayTransport({ ...secrets, baseUrl }),
  "gateway over fetch": (baseUrl) => gatewayTransport({ ...overFetch, baseUrl }),
  "direct over undici": (baseUrl) => directTransport({ ...secrets, baseUrl }),
  "direct over fetch": (baseUrl) => directTransport({ ...overFetch, baseUrl }),
  // One reading of each question, the first alone: where it fails, no other is sent.
  "logprobs over undici": (baseUrl) => logprobsTransport({ ...secrets, ...oneReading, baseUrl }),
  "logprobs over fetch": (baseUrl) => logprobsTransport({ ...overFetch, ...oneReading, baseUrl }),
};
/** Each of these ways, and how to start each kind of server for it. */
export const everyWayAndServer = Object.entries(transportsTo).flatMap(([way, transportTo]) =>
  servers.map(([kind, listen]) => [`${way}, ${kind}`, transportTo, listen] as const),
);
/** The gateway alone. */
export const gatewaysAndServers = everyWayAndServer.filter(([way]) => way.startsWith("gateway"));
/** The gateway, and a chat server read by its log-probabilities. */
export const waysAndServers = everyWayAndServer.filter(
  ([way]) => !/^(direct|logprobs over fetch)/.test(way),
);

/**
 * Asks {@link privateRequest} with up to two retries and waits of 0 ms, and returns the error, after
 * checking that nothing of it shows a secret.
 */
export async function privateFailure(
  transport: Transport,
  { clock, ...options }: EvaluateOptions & { clock?: Clock } = {},
): Promise<EvaluatorError> {
  const runtime = { random: () => 0, ...(clock && { clock }) };
  const error = await createEvaluator({ transport }, runtime)
    .evaluate(privateRequest, options)
    .then(
      () => expect.unreachable("the call fails"),
      (thrown: EvaluatorError) => thrown,
    );
  expect(shownTexts(error)).not.toMatch(secretWords);
  return error;
}

/** Returns everything a program may print, log or store of an error, causes included. */
export function shownTexts(error: unknown): string {
  const own = [
    inspect(error, { depth: Infinity, showHidden: true, maxStringLength: Infinity }),
    inspect(structuredClone(error), { depth: Infinity }),
    inspect(error, { customInspect: false, depth: Infinity, getters: true }),
    JSON.stringify(error),
    JSON.stringify({ error }, null, 2),
    String(error),
  ];
  if (!(error instanceof Error)) return own.join("\n");
  const fields = JSON.stringify(error, Object.getOwnPropertyNames(error));
  return [...own, error.stack, fields, ...(error.cause ? [shownTexts(error.cause)] : [])].join(
    "\n",
  );
}
