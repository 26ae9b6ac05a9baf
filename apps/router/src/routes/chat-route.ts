import type { Context, Handler } from "hono";
import { accepts } from "hono/accepts";
import type { MessageRouter } from "../chat/message-router.ts";
import { toChatOutcome, toChatResponse } from "../chat/to-chat-response.ts";
import { decisionHeaders } from "../decision/decision-headers.ts";
import { callOf, type ClientEnv } from "./client-env.ts";
import { readMessage } from "./read-message.ts";
import { sendEvents } from "./send-events.ts";

/**
 * `POST /chat`: `{ message }` in, the decision and the reply out (contract section 4.6). With
 * `Accept: text/event-stream` they come as events: `decision` as soon as it is known (again when
 * the fallback model takes over), `reply` with each piece of text, `done` with all but the text.
 */
export function chatRoute(
  router: MessageRouter,
  report: (error: Error) => void,
): Handler<ClientEnv> {
  return async (c) => {
    const message = await readMessage(c.req);
    const call = callOf(c, "chat");
    const decision = await router.decide(message, call);
    if (!wantsEvents(c)) {
      const answer = await router.reply(decision, message, call);
      const headers = decisionHeaders(answer.decision);
      const replyMs = { "x-router-reply-ms": String(answer.reply.replyMs) };
      return c.json(toChatResponse(answer), 200, { ...headers, ...replyMs });
    }
    for (const [name, value] of Object.entries(decisionHeaders(decision))) c.header(name, value);
    return sendEvents(
      c,
      async (send) => {
        await send(decision, "decision");
        const answer = await router.reply(decision, message, {
          ...call,
          onDelta: (delta) => send({ delta }, "reply"),
          onFallback: (changed) => void send(changed, "decision"),
        });
        await send(toChatOutcome(answer), "done");
      },
      (error, send) => {
        report(error instanceof Error ? error : new Error("Not an error was thrown."));
        return send({ error: "The router failed; its console says where." }, "error");
      },
    );
  };
}

function wantsEvents(c: Context): boolean {
  const supports = ["application/json", "text/event-stream"];
  const best = accepts(c, { header: "Accept", supports, default: "application/json" });
  return best === "text/event-stream";
}
