import {
  apiKeyVariables,
  ConfigurationError,
  directTransport,
  gatewayTransport,
} from "evaluator-client";
import { type Exchange, loadExchanges } from "evaluator-client/testing";
import {
  checkName,
  CliError,
  describeSystemError,
  type Environment,
  printable,
} from "evaluator-kit";

/** One request to send, and the exchange that it comes from. */
export interface LiveCall {
  readonly exchange: Exchange;
  /** The exchange and others with the same request and status: all known forms of answer. */
  readonly samples: readonly Exchange[];
  readonly url: string;
  readonly apiKey: string;
}

const transports = {
  gateway: { make: gatewayTransport, basePath: "/v4/ai/" },
  direct: { make: directTransport, basePath: "/v1/" },
};

/**
 * Returns the calls of the named exchanges; without names, all successful evaluations with a key. And
 * every key of the environment.
 */
export function chooseCalls(
  names: readonly string[],
  { env, folder }: { readonly env: Environment; readonly folder: string },
) {
  const services = { gateway: readService("gateway", env), direct: readService("direct", env) };
  const exchanges = readExchanges(folder);
  const calls = chooseExchanges(names, exchanges).flatMap((exchange): LiveCall[] => {
    const transport = exchange.name.startsWith("direct/") ? "direct" : "gateway";
    const service = services[transport];
    if (service !== null) {
      const requestKey = toRequestKey(exchange);
      const samples = exchanges.filter((candidate) => toRequestKey(candidate) === requestKey);
      const { basePath } = transports[transport];
      const { path } = exchange.request;
      // The gateway's other paths are at the host root (contract, placeholders).
      const relativePath = path.startsWith(basePath) ? path.slice(basePath.length) : path;
      const url = new URL(relativePath, service.url).href;
      return [{ exchange, samples, url, apiKey: service.apiKey }];
    }
    if (names.length === 0) return [];
    throw new CliError(`${exchange.name} needs a key: set ${apiKeyVariables[transport]}.`);
  });
  if (calls.length > 0) {
    const keys = Object.values(services).flatMap((service) => service?.apiKey ?? []);
    return { calls, keys };
  }
  const { gateway, direct } = apiKeyVariables;
  throw new CliError(`Set ${gateway} or ${direct}; no key is set.`);
}

/** Reads a service's key and address as the client does; null without a key. Errors name the variable only. */
function readService(serviceName: keyof typeof transports, env: Environment) {
  const apiKey = env[apiKeyVariables[serviceName]] ?? "";
  if (apiKey === "") return null;
  try {
    return { apiKey, url: transports[serviceName].make({ apiKey, env }).target?.url };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new CliError(error.message, { cause: error });
  }
}

function readExchanges(folder: string): Exchange[] {
  try {
    return loadExchanges(folder);
  } catch (error) {
    const reason = `${describeSystemError(error) ?? (error as Error).message}.`.replace("..", ".");
    throw new CliError(printable`Cannot read ${folder}: ${reason} Name it with --exchanges.`);
  }
}

function chooseExchanges(wantedNames: readonly string[], exchanges: readonly Exchange[]) {
  // A balance and a price list are asked for by name only: the one is private, the other is long.
  if (wantedNames.length === 0) {
    return exchanges.filter(
      ({ request, response }) => request.method === "POST" && response.status < 300,
    );
  }
  const knownNames = exchanges.map(({ name }) => name);
  for (const name of wantedNames) checkName("exchange", name, knownNames);
  return [...new Set(wantedNames)].flatMap((name) =>
    exchanges.filter((exchange) => exchange.name === name),
  );
}

function toRequestKey({ request, response }: Exchange): string {
  return JSON.stringify([request, response.status]);
}
