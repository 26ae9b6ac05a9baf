import {
  apiKeyVariables,
  ConfigurationError,
  directTransport,
  gatewayTransport,
} from "evaluator-client";
import { type Exchange, loadExchanges } from "evaluator-client/testing";
import { CliError, type Environment, systemErrorCode, toFileError } from "evaluator-kit";

/** One request to send, and the exchange that it comes from. */
export interface LiveCall {
  readonly exchange: Exchange;
  /** The exchange and others with the same request and status: all known forms of answer. */
  readonly samples: readonly Exchange[];
  readonly url: string;
  readonly apiKey: string;
}

/** A service with a key; null without one. */
type Services = ReturnType<typeof readLiveServices>;

const transports = { gateway: gatewayTransport, direct: directTransport };

/** Reads keys and base URLs as the client does; an error names the variable, never its value. */
function readLiveServices(env: Environment) {
  const read = (name: keyof typeof transports) => {
    const apiKey = env[apiKeyVariables[name]] ?? "";
    if (apiKey === "") return null;
    try {
      const { url = "" } = transports[name]({ apiKey, env }).target ?? {};
      // Without the path of an evaluation.
      return { apiKey, baseUrl: url.replace(/\/(?:v1\/systemone|[a-z]+-model)$/, "") };
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      throw new CliError(error.message, { cause: error });
    }
  };
  return { gateway: read("gateway"), direct: read("direct") };
}

/**
 * Returns the calls of the named exchanges; without names, all successful evaluations with a key. And
 * every key of the environment.
 */
export function chooseCalls(
  names: readonly string[],
  { env, folder }: { readonly env: Environment; readonly folder: string },
) {
  const services = readLiveServices(env);
  const keys = Object.values(services).flatMap((service) => service?.apiKey ?? []);
  return { calls: callsOf(names, services, readExchanges(folder)), keys };
}

function callsOf(
  names: readonly string[],
  services: Services,
  exchanges: readonly Exchange[],
): LiveCall[] {
  const toCall = (exchange: Exchange): LiveCall | null => {
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
  };
  if (names.length === 0) {
    // A balance and a price list are asked for by name only: the one is private, the other is long.
    const evaluations = exchanges.filter(
      ({ request, response }) => request.method === "POST" && response.status < 300,
    );
    const calls = evaluations.flatMap((exchange) => toCall(exchange) ?? []);
    if (calls.length > 0) return calls;
    const { gateway, direct } = apiKeyVariables;
    throw new CliError(`There is nothing to ask: set ${gateway} or ${direct}.`);
  }
  return [...new Set(names)].map((name) => {
    const exchange = exchanges.find((one) => one.name === name);
    if (exchange === undefined) {
      throw new CliError(`There is no exchange ${name}; names are like gateway/rate-limited.`);
    }
    const call = toCall(exchange);
    if (call !== null) return call;
    throw new CliError(`${name} needs a key: set ${apiKeyVariables[transportOf(exchange)]}.`);
  });
}

function readExchanges(folder: string): Exchange[] {
  try {
    return loadExchanges(folder);
  } catch (error) {
    const advice = "Name a folder of exchanges with --exchanges.";
    if (systemErrorCode(error) !== null) throw toFileError(error, `read ${folder}`, advice);
    const problem = error instanceof Error ? error.message : "No exchanges can be read.";
    throw new CliError(`${problem} ${advice}`);
  }
}

function questionOf({ request, response }: Exchange): string {
  return JSON.stringify([request, response.status]);
}

function transportOf({ name }: Exchange): keyof Services {
  return name.startsWith("direct/") ? "direct" : "gateway";
}

/**
 * Returns the address of an exchange's path at a live service. The gateway's base URL replaces
 * `/v4/ai`; its other paths are at the host root (contract, placeholders).
 */
function exchangeUrl(path: string, transport: keyof Services, baseUrl: string): string {
  if (transport === "direct") return baseUrl + path;
  const [, below] = /^\/v4\/ai(\/.*)$/.exec(path) ?? [];
  return below === undefined ? new URL(baseUrl).origin + path : baseUrl + below;
}
