import type { MiddlewareHandler } from "hono";
import type { CallSlots } from "../operations/call-slots.ts";
import type { ClientEnv } from "./client-env.ts";
import { Refusal } from "./refusal.ts";

/** Answers 503 when too many calls are in flight, and says when to come back. */
export function limitedCalls(slots: CallSlots): MiddlewareHandler<ClientEnv> {
  return async (c, next) => {
    const slot = slots.take();
    if (slot === null) {
      const error = "The router is busy with other messages; try again in a moment.";
      throw new Refusal(503, error, { headers: { "Retry-After": "1" } });
    }
    c.set("slot", slot);
    try {
      return await next();
    } finally {
      if (!slot.isHeld()) slot.release(); // an abort's reason may be thrown past every handler
    }
  };
}
