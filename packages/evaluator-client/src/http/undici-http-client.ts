import { Pool } from "undici";
import type { HttpClient } from "./http-client.ts";
import { UndiciExchange } from "./undici-exchange.ts";

const pools = new Map<string, Pool>();

/** The HTTP client on Node: undici's own `Pool`, one for each origin, idle sockets kept open. */
export const defaultHttpClient: HttpClient = (endpoint) => {
  const { origin, pathname, search } = new URL(endpoint.url);
  const { method } = endpoint;
  const headers = Object.entries(endpoint.headers).flat();
  const target = { path: pathname + search, method, headers };
  return (body, abortable) => {
    const exchange = new UndiciExchange(endpoint, abortable);
    if (!exchange.isOver) poolFor(origin).dispatch({ ...target, body }, exchange);
    return exchange.response;
  };
};

function poolFor(origin: string): Pool {
  const known = pools.get(origin);
  if (known !== undefined) return known;
  // The attempt's own limit covers headers and body, so undici's are off.
  const pool = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0 });
  pools.set(origin, pool);
  return pool;
}
