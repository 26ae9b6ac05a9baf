import type { Handler } from "./reply.ts";

/** Handlers by method and path, such as `GET /v1/models`. */
export type RouteTable = Readonly<Record<string, Handler>>;

/**
 * Answers a call from the table; HEAD is answered as GET.
 *
 * @param otherwise - Answers what the table does not have.
 */
export function routeTable(table: RouteTable, otherwise: Handler): Handler {
  const routes = new Map(Object.entries(table));
  return (call) => {
    const method = call.method === "HEAD" ? "GET" : call.method;
    return (routes.get(`${method} ${call.path}`) ?? otherwise)(call);
  };
}
