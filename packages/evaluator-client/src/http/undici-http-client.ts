import { Agent } from "undici";
import type { HttpClient } from "./http-client.ts";
import { UndiciExchange } from "./undici-exchange.ts";

let agent: Agent | undefined;

/** The HTTP client on Node: undici's own `Agent`, one for the process, idle sockets kept open. */
export const defaultHttpClient: HttpClient = (endpoint) => {
  const { method, headers } = endpoint;
  const { origin, pathname, search } = new URL(endpoint.url);
  const target = { origin, path: pathname + search, method, headers: { ...headers } };
  return (body, abortable) => {
    // The attempt's own limit covers headers and body, so undici's are off.
    agent ??= new Agent({ headersTimeout: 0, bodyTimeout: 0 });
    const exchange = new UndiciExchange(endpoint, abortable);
    agent.dispatch({ ...target, body }, exchange);
    return exchange.response;
  };
};
