import type { Context, Handler, Hono, HonoRequest } from "hono";
import { accepts } from "hono/accepts";
import { z } from "zod";
import { noTiers } from "../decision/tier-question.ts";
import type { Answer, MessageRouter } from "../message-router.ts";
import type { ChatOutcome, ChatResponse } from "../decision/decision.ts";
import {
  callOf,
  type ClientEnv,
  cutMessage,
  readJson,
  sendEvents,
  setDecisionHeaders,
} from "./client-request.ts";
import { HttpError } from "../http-error.ts";
import { defectMessage } from "./failures.ts";
import type { Guards } from "./guards.ts";

/** Adds `POST /chat` (contract section 4.6) and `POST /decide`, the decision only. */
export function addChatRoutes(app: Hono<ClientEnv>, router: MessageRouter, guards: Guards): void {
  app.post("/chat", ...guards.message, chatRoute(router));
  app.post("/decide", ...guards.message, async (c) => {
    const message = await readMessage(c.req);
    const decision = await router.decideOnly({ user_message: message }, callOf(c, "decide"));
    setDecisionHeaders(c, decision);
    return c.json(decision);
  });
}

/**
 * With `Accept: text/event-stream`, answers with the events `decision` (again if a fallback model
 * takes over), `reply` for each piece of text, and `done` with all fields but the text.
 */
function chatRoute(router: MessageRouter): Handler<ClientEnv> {
  return async (c) => {
    const message = await readMessage(c.req);
    const call = callOf(c, "chat");
    const decision = await router.decide({ user_message: message }, call);
    if (!wantsEvents(c)) {
      const answer = await router.reply(decision, message, call);
      setDecisionHeaders(c, answer.decision);
      c.header("x-router-reply-ms", String(answer.reply.replyMs));
      return c.json(toChatResponse(answer));
    }
    setDecisionHeaders(c, decision);
    return sendEvents(
      c,
      async (send) => {
        await send(decision, "decision");
        const answer = await router.reply(decision, message, {
          ...call,
          onDelta: (delta) => send({ delta }, "reply"),
          onFallback: (changed) => void send(changed, "decision"),
        });
        const { reply: _, ...outcome } = toChatResponse(answer);
        await send(outcome satisfies ChatOutcome, "done");
      },
      [{ error: defectMessage }, "error"],
    );
  };
}

function wantsEvents(c: Context): boolean {
  const supports = ["application/json", "text/event-stream"];
  const best = accepts(c, { header: "Accept", supports, default: "application/json" });
  return best === "text/event-stream";
}

/** The contract's nine fields; after a failed evaluation, the policy's tier is reported as the choice. */
function toChatResponse({ decision, reply }: Answer): ChatResponse {
  return {
    tier: decision.tierChosen ?? decision.tierUsed ?? "frontier", // one of the two is set
    model: decision.model,
    probabilities: decision.probabilities ?? noTiers,
    confidence: decision.confidence,
    jevMs: decision.decisionMs,
    replyMs: reply.replyMs,
    reply: reply.reply,
    replyError: reply.replyError,
    usage: reply.usage,
  };
}

const messageSchema = z.object({ message: z.string().regex(/\S/) });

/** Reads `{ message }`, cut (contract section 4.6). @throws HttpError (400) without a text. */
async function readMessage(request: HonoRequest): Promise<string> {
  const { data } = messageSchema.safeParse(await readJson(request));
  if (data) return cutMessage(data.message);
  throw new HttpError(400, 'Send { "message": "…" }; the text is not blank.');
}
