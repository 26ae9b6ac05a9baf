import type { Handler } from "hono";
import type { MessageRouter } from "../chat/message-router.ts";
import { decisionHeaders } from "../decision/decision-headers.ts";
import { callOf, type ClientEnv } from "./client-env.ts";
import { readMessage } from "./read-message.ts";

/** `POST /decide`: `{ message }` in, the decision out, no reply. */
export function decideRoute(router: MessageRouter): Handler<ClientEnv> {
  return async (c) => {
    const message = await readMessage(c.req);
    const decision = await router.decideOnly(message, callOf(c, "decide"));
    return c.json(decision, 200, decisionHeaders(decision));
  };
}
