import type { Context } from "hono";
import type { Call } from "../chat/message-router.ts";
import type { Slot } from "../operations/call-slots.ts";
import type { Door } from "../records/message-record.ts";

/** What routes find in the context. */
export interface ClientEnv {
  Variables: {
    /** Aborts when the client goes away. */
    clientSignal: AbortSignal;
    /** The client's own id of the request where it sent a harmless one, else a new one. */
    requestId: string;
    /** The place among the calls in flight, on routes that ask a model. */
    slot: Slot;
  };
}

/** The call that a request makes at a door. */
export function callOf({ var: { requestId, clientSignal } }: Context<ClientEnv>, door: Door): Call {
  return { requestId, door, signal: clientSignal };
}
