import { cutText } from "evaluator-client";
import type { Context, Handler, HonoRequest } from "hono";
import { accepts } from "hono/accepts";
import { z } from "zod";
import { decisionHeaders } from "../decision/decide.ts";
import type { Decision } from "../decision/decision.ts";
import { HttpError } from "../http-error.ts";
import type { Answer, Call, MessageRouter } from "../message-router.ts";
import type { Reply } from "../reply/reply.ts";
import type { Tier } from "../tier-question.ts";
import { defectMessage } from "./failures.ts";
import { callOf, type ClientEnv } from "./guards.ts";
import { sendEvents } from "./send-events.ts";

/** The answer to one message, in the order of the contract's fields (section 4.6). */
export interface ChatResponse extends Pick<Reply, "replyMs" | "reply" | "replyError" | "usage"> {
  /** The evaluation model's choice. */
  readonly tier: Tier;
  /** The text model that answered; unless the policy says else, the one configured for that tier. */
  readonly model: string;
  /** Probability of each tier, 0..1. */
  readonly probabilities: Readonly<Record<Tier, number>>;
  /** Confidence of the choice, 0..1, or null when not given. */
  readonly confidence: number | null;
  /** Time of the evaluation call, in whole milliseconds; the contract's name for the decision's time. */
  readonly jevMs: number;
}

/** What ends an event stream: all but the reply's text, which the deltas have brought already. */
export type ChatOutcome = Omit<ChatResponse, "reply">;

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

/** `POST /decide`: `{ message }` in, the decision out, no reply. */
export function decideRoute(router: MessageRouter): Handler<ClientEnv> {
  return async (c) => {
    const message = await readMessage(c.req);
    const decision = await router.decideOnly({ user_message: message }, callOf(c, "decide"));
    return c.json(decision, 200, decisionHeaders(decision));
  };
}

/** The longest message that is read, in UTF-16 code units (contract section 8). */
export const MAX_MESSAGE_LENGTH = 20_000;

const messageSchema = z.object({ message: z.string().regex(/\S/) });

/**
 * Reads `{ message }`, cut to its limit (contract section 4.6, rule 1).
 *
 * @throws HttpError with status 400 when there is no text.
 */
async function readMessage(request: HonoRequest): Promise<string> {
  const { data } = messageSchema.safeParse(await readJson(request));
  if (data) return cutMessage(data.message);
  throw new HttpError(400, 'Send { "message": "…" }; the text is not blank.');
}

/** Returns a message cut to {@link MAX_MESSAGE_LENGTH}, or a little less where a character would be split. */
export function cutMessage(message: string): string {
  return cutText(message, MAX_MESSAGE_LENGTH);
}

/**
 * Reads a body that must be JSON.
 *
 * @throws HttpError with status 400 when it is not.
 */
export async function readJson(request: HonoRequest): Promise<unknown> {
  const text = await request.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, "The body is not JSON.");
  }
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
