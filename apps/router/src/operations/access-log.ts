import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { ClientEnv } from "../routes/client-env.ts";
import type { Metrics } from "./metrics.ts";

/** Where each response is told. */
export interface AccessLog {
  readonly metrics: Metrics;
  /** Prints one line, or null to print none. */
  readonly write: ((line: string) => void) | null;
}

/**
 * Tells of every response: time, method, route, status, milliseconds and request id. The route is
 * the router's own word, as an address may hold a person's text; a stream's time ends at its start.
 */
export function accessLog({ metrics, write }: AccessLog): MiddlewareHandler<ClientEnv> {
  return async (c, next) => {
    const startedAt = performance.now();
    await next();
    const route = routePath(c, -1);
    const { method } = c.req;
    const { status } = c.res;
    metrics.countResponse({ method: knownMethods.has(method) ? method : "other", route, status });
    const ms = Math.round(performance.now() - startedAt);
    write?.(
      `${new Date().toISOString()} ${method} ${route} ${status} ${ms}ms ${c.var.requestId}\n`,
    );
  };
}

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
