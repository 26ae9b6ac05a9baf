import type { MiddlewareHandler } from "hono";
import type { ClientEnv } from "./client-env.ts";

/**
 * Keeps the client's own signal, and answers nobody when the client is gone. The body limit puts a
 * copy in the request's place, and a copy's signal may be collected as garbage before it aborts.
 */
export const keepClientSignal: MiddlewareHandler<ClientEnv> = async (c, next) => {
  const { signal } = c.req.raw;
  c.set("clientSignal", signal);
  try {
    return await next();
  } catch (reason) {
    if (signal.aborted) return new Response(null, { status: 499 }); // an abort's reason need not be an error
    throw reason;
  }
};
