import { type Exchange, loadExchanges } from "evaluator-client/testing";
import { NotRunError } from "./live-context.ts";
import { exchangeUrl, keyVariables, type LiveServices } from "./live-services.ts";

/** One request to send, and the exchange it comes from. */
export interface LiveCall {
  readonly exchange: Exchange;
  /**
   * The exchange and others with the same request and status: every form of answer that is known.
   */
  readonly samples: readonly Exchange[];
  readonly url: string;
  readonly apiKey: string;
}

/**
 * Returns the calls a person asked for by name; without names, every successful evaluation through
 * each transport that has a key.
 *
 * @throws {NotRunError} when a name is unknown, a key is missing, or nothing is left to ask.
 */
export function chooseCalls(
  names: readonly string[],
  { services, exchangesFolder }: { services: LiveServices; exchangesFolder: string },
): LiveCall[] {
  const exchanges = readExchanges(exchangesFolder);
  const toCall = (exchange: Exchange) => callFor(exchange, { exchanges, services });
  if (names.length > 0) {
    return [...new Set(names)].map((name) => {
      const exchange = findExchange(name, exchanges);
      return toCall(exchange) ?? raiseMissingKey(exchange);
    });
  }
  const calls = exchanges.filter(isEvaluation).flatMap((exchange) => toCall(exchange) ?? []);
  if (calls.length > 0) return calls;
  const variables = Object.values(keyVariables).join(" or ");
  throw new NotRunError(`There is nothing to ask: set ${variables}.`);
}

// A balance and a price list are asked for by name only: the one is private, the other is long.
function isEvaluation({ request, response }: Exchange): boolean {
  return request.method === "POST" && response.status < 300;
}

function findExchange(name: string, exchanges: readonly Exchange[]): Exchange {
  const exchange = exchanges.find((exchange) => exchange.name === name);
  if (exchange !== undefined) return exchange;
  throw new NotRunError(`There is no exchange ${name}; names are like gateway/rate-limited.`);
}

function raiseMissingKey(exchange: Exchange): never {
  const variable = keyVariables[transportOf(exchange)];
  throw new NotRunError(`${exchange.name} needs a key: set ${variable}.`);
}

function callFor(
  exchange: Exchange,
  { exchanges, services }: { exchanges: readonly Exchange[]; services: LiveServices },
): LiveCall | null {
  const transport = transportOf(exchange);
  const service = services[transport];
  if (service === null) return null;
  const asked = questionOf(exchange);
  return {
    exchange,
    samples: exchanges.filter((other) => questionOf(other) === asked),
    url: exchangeUrl(exchange.request.path, transport, service.baseUrl),
    apiKey: service.apiKey,
  };
}

function questionOf({ request, response }: Exchange): string {
  return JSON.stringify([request, response.status]);
}

function transportOf({ name }: Exchange): keyof LiveServices {
  return name.startsWith("direct/") ? "direct" : "gateway";
}

function readExchanges(folder: string): Exchange[] {
  try {
    return loadExchanges(folder);
  } catch (error) {
    throw new NotRunError(error instanceof Error ? error.message : "No exchanges can be read.");
  }
}
