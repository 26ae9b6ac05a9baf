import type { Context, Handler } from "hono";
import { accepts } from "hono/accepts";
import { decisionHeaders } from "../decision/decide.ts";
import type { Decision } from "../decision/decision.ts";
import type { Answer, Call, MessageRouter } from "../message-router.ts";
import type { ChatOutcome, ChatResponse } from "./chat-response.ts";
import { defectMessage } from "./failures.ts";
import { callOf, type ClientEnv, readMessage } from "./client-request.ts";
import { sendEvents } from "./send-events.ts";

/**
 * Returns the route `POST /chat`: `{ message }` in, the decision and the reply out (contract section
 * 4.6). With `Accept: text/event-stream` they come as events: `decision` as soon as it is known
 * (again when the fallback model takes over), `reply` with each piece of text, `done` with all but
 * the text.
 */
export function chatRoute(
  router: MessageRouter,
  report: (error: Error) => void,
): Handler<ClientEnv> {
  return async (c) => {
    const message = await readMessage(c.req);
    const call = callOf(c, "chat");
    const decision = await router.decide({ user_message: message }, call);
    if (wantsEvents(c)) {
      return sendChatEvents(c, { router, report, message, call, decision });
    }
    const answer = await router.reply(decision, message, call);
    const replyMs = { "x-router-reply-ms": String(answer.reply.replyMs) };
    const headers = { ...decisionHeaders(answer.decision), ...replyMs };
    return c.json(toChatResponse(answer), 200, headers);
  };
}

/** Returns the route `POST /decide`: `{ message }` in, the decision out, no reply. */
export function decideRoute(router: MessageRouter): Handler<ClientEnv> {
  return async (c) => {
    const message = await readMessage(c.req);
    const decision = await router.decideOnly({ user_message: message }, callOf(c, "decide"));
    return c.json(decision, 200, decisionHeaders(decision));
  };
}

function wantsEvents(c: Context): boolean {
  const supports = ["application/json", "text/event-stream"];
  const best = accepts(c, { header: "Accept", supports, default: "application/json" });
  return best === "text/event-stream";
}

interface DecidedMessage {
  readonly router: MessageRouter;
  readonly report: (error: Error) => void;
  readonly message: string;
  readonly call: Call;
  readonly decision: Decision;
}

function sendChatEvents(c: Context<ClientEnv>, decided: DecidedMessage): Response {
  const { router, report, message, call, decision } = decided;
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
      const { reply: _, ...outcome } = toChatResponse(answer);
      await send(outcome satisfies ChatOutcome, "done");
    },
    (error, send) => {
      report(error instanceof Error ? error : new Error("Not an error was thrown."));
      return send({ error: defectMessage }, "error");
    },
  );
}

const noShares = { nano: 0, fast: 0, balanced: 0, frontier: 0 };

/**
 * The nine fields of the contract, whatever the policy did. Where the evaluation failed and the
 * policy named a tier, that tier stands for the choice, and no tier has a share.
 */
function toChatResponse({ decision, reply }: Answer): ChatResponse {
  return {
    tier: decision.tierChosen ?? decision.tierUsed ?? "frontier", // one of the two is there
    model: decision.model,
    probabilities: decision.probabilities ?? noShares,
    confidence: decision.confidence,
    jevMs: decision.decisionMs,
    replyMs: reply.replyMs,
    reply: reply.reply,
    replyError: reply.replyError,
    usage: reply.usage,
  };
}
