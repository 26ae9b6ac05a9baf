import type { Handler } from "hono";
import { z } from "zod";
import { type Routing, routeMessage } from "../chat/route-message.ts";
import type { ClientEnv } from "./client-signal.ts";

const chatRequestSchema = z.object({ message: z.string().regex(/\S/) });

/** `POST /chat`: `{ message }` in, the decision and the reply out (contract section 4.6). */
export function chatRoute(routing: Routing): Handler<ClientEnv> {
  return async (c) => {
    const body = parseJson(await c.req.text());
    if (body === undefined) return c.json({ error: "The body is not JSON." }, 400);
    const { data } = chatRequestSchema.safeParse(body);
    if (!data) return c.json({ error: 'Send { "message": "…" }; the text is not blank.' }, 400);
    return c.json(await routeMessage(data.message, routing, c.var.clientSignal));
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
