import type { MiddlewareHandler } from "hono";

/** What routes find in the context. */
export interface ClientEnv {
  Variables: {
    /** Aborts when the client goes away. */
    clientSignal: AbortSignal;
  };
}

/**
 * Keeps the client's own signal. The body limit puts a copy in the request's place, and a copy's
 * signal may be collected as garbage before it ever aborts.
 */
export const keepClientSignal: MiddlewareHandler<ClientEnv> = async (c, next) => {
  c.set("clientSignal", c.req.raw.signal);
  await next();
};
