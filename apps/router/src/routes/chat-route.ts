import type { Context, Handler, Hono, HonoRequest } from "hono";
import { accepts } from "hono/accepts";
import { z } from "zod";
import type { Shares } from "../decision/tier-question.ts";
import { toConversation } from "../conversation/conversation.ts";
import { cutMessage } from "../conversation/user-turns.ts";
import type { ChatOutcome, ChatResponse } from "../decision/decision.ts";
import { defectMessage, HttpError } from "../http-error.ts";
import type { Answer, MessageRouter } from "../message-router.ts";
import { type ReplyListener, textOfReply } from "../reply/reply-piece.ts";
import { findInput, type TokenUsage } from "../reply/usage.ts";
import { toCall, type ClientEnv, setDecisionHeaders } from "./client-request.ts";
import { readJson } from "./json-body.ts";
import { sendEvents } from "./event-stream.ts";
import type { Guards } from "./guards.ts";

/** Adds `POST /chat` (contract section 4.6) and `POST /decide`, the decision only. */
export function addChatRoutes(
  app: Hono<ClientEnv>,
  router: MessageRouter,
  { guards, pingMs }: { readonly guards: Guards; readonly pingMs: number },
): void {
  app.post("/chat", ...guards.message, chatRoute(router, pingMs));
  app.post("/decide", ...guards.message, async (c) => {
    const message = await readMessage(c.req);
    const decision = await router.decideOnly({ user_message: message }, toCall(c, "decide"));
    setDecisionHeaders(c, decision);
    return c.json(decision);
  });
}

/**
 * With `Accept: text/event-stream`, answers with the events `decision` (again if a fallback model
 * takes over), `reply` for each piece of text, and `done` with all fields but the text.
 */
function chatRoute(router: MessageRouter, pingMs: number): Handler<ClientEnv> {
  return async (c) => {
    const message = await readMessage(c.req);
    const conversation = toConversation(message);
    const askedCall = toCall(c, "chat");
    const isFree = askedCall.budget === null;
    const call = isFree ? askedCall : await router.reserveAuto(askedCall, message, conversation);
    const firstDecision = await router.decide({ user_message: message }, call);
    const decision = router.plans.keepCapable(firstDecision, { conversation }, call.key);
    if (!wantsEvents(c)) {
      let replyText = "";
      const listener: ReplyListener = (replyPart) => void (replyText += textOfReply(replyPart));
      const wholeAnswer = await router.reply(decision, conversation, {
        ...call,
        listener,
        isWhole: true,
      });
      setDecisionHeaders(c, wholeAnswer.decision);
      c.header("x-router-reply-ms", String(wholeAnswer.reply.replyMs));
      return c.json(toChatResponse(wholeAnswer, replyText));
    }
    setDecisionHeaders(c, decision);
    return sendEvents(c, { pingMs, failed }, async (send) => {
      await send([{ event: "decision", data: decision }]);
      const streamedAnswer = await router.reply(decision, conversation, {
        ...call,
        listener(replyPart) {
          const delta = textOfReply(replyPart);
          return delta === "" ? undefined : send([{ event: "reply", data: { delta } }]);
        },
        onFallback: (changedDecision) => void send([{ event: "decision", data: changedDecision }]),
      });
      const { reply: _, ...outcome } = toChatResponse(streamedAnswer);
      await send([{ event: "done", data: outcome satisfies ChatOutcome }]);
    });
  };
}

const failed = () => [{ event: "error", data: { error: defectMessage } }];

function wantsEvents(c: Context): boolean {
  const [json, events] = ["application/json", "text/event-stream"];
  return accepts(c, { header: "Accept", supports: [json, events], default: json }) === events;
}

const noShares: Shares = { nano: 0, fast: 0, balanced: 0, frontier: 0 };

/** The contract's nine fields; after a failed evaluation, the policy's tier is reported as the choice. */
function toChatResponse({ decision, reply }: Answer, replyText = ""): ChatResponse {
  return {
    tier: decision.tierChosen ?? decision.tierUsed ?? "frontier", // one of the two is set
    model: decision.model,
    probabilities: decision.probabilities ?? noShares,
    confidence: decision.confidence,
    jevMs: decision.decisionMs,
    replyMs: reply.replyMs,
    reply: reply.replyError === null ? replyText : "",
    replyError: reply.replyError,
    usage: reply.end && toChatUsage(reply.end.usage),
  };
}

function toChatUsage(usage: TokenUsage): ChatResponse["usage"] {
  const [inputTokens, outputTokens] = [findInput(usage), usage.output];
  const isKnown = inputTokens !== null && outputTokens !== null;
  return { inputTokens, outputTokens, totalTokens: isKnown ? inputTokens + outputTokens : null };
}

const messageSchema = z.object({ message: z.string().regex(/\S/) });

/** Reads `{ message }`, cut (contract section 4.6). @throws HttpError (400) without a text. */
async function readMessage(request: HonoRequest): Promise<string> {
  const { data } = messageSchema.safeParse(await readJson(request));
  if (data) return cutMessage(data.message);
  throw new HttpError(400, 'Send { "message": "…" }; the text is not blank.');
}
