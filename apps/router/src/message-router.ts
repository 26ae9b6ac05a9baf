import { decide, decideFallback, decideTier, type Routing } from "./decision/decide.ts";
import type { Decision } from "./decision/decision.ts";
import {
  type CallOrigin,
  type Observe,
  recordOf,
  recordOfFailure,
} from "./records/message-record.ts";
import { generateReply, type OpenModel, type ReplyOptions } from "./reply/generate-reply.ts";
import {
  createTokenMeter,
  type GeneratedReply,
  type ReplyPrompt,
  type ReplySettings,
} from "./reply/reply.ts";
import type { Tier } from "./tier-question.ts";

/** Who asked, and what ends the asking. */
export interface Call extends Omit<CallOrigin, "instance"> {
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

/** What a reply is to be like, and who is told of it while it comes. */
interface ReplyWishes {
  readonly onDelta?: ReplyOptions["onDelta"];
  readonly settings?: ReplySettings;
  /** Is told of the new decision when the tier's model is refused and the fallback is asked. */
  readonly onFallback?: (decision: Decision) => void;
}

/** A reply, and the decision that holds in the end. */
export interface Answer {
  readonly decision: Decision;
  readonly reply: GeneratedReply;
}

/** Decides and replies, and tells of each message's end exactly once. */
export interface MessageRouter {
  /** Lets the evaluation model choose, for a reply that follows. */
  decide(message: string, call: Call): Promise<Decision>;
  /** Lets the evaluation model choose, and nothing more. */
  decideOnly(message: string, call: Call): Promise<Decision>;
  /** Takes the tier the client asks for. */
  decideTier(tier: Tier): Decision;
  /** Asks the decision's model; a failure is data. */
  reply(decision: Decision, prompt: ReplyPrompt, wishes: ReplyWishes & Call): Promise<Answer>;
}

/** Returns what decides and replies for every endpoint. */
export function createMessageRouter(
  routing: Routing & { instance: string; observers: readonly Observe[] },
): MessageRouter {
  const { services, policy, instance, observers } = routing;
  const observe: Observe = (record) => {
    for (const tell of observers) tell(record);
  };

  async function decideFor(
    message: string,
    { signal, requestId, endpoint }: Call,
  ): Promise<Decision> {
    try {
      return await decide(message, routing, signal);
    } catch (thrown) {
      const origin = { instance, requestId, endpoint };
      const error = thrown instanceof Error ? thrown : new Error("Not an error was thrown.");
      observe(recordOfFailure(origin, signal.aborted ? "stopped" : "no-decision", error));
      throw thrown;
    }
  }

  const open = (model: string): OpenModel => {
    return (listener) => services.languageModel(model, listener);
  };

  return {
    decide: decideFor,
    async decideOnly(message, call) {
      const decision = await decideFor(message, call);
      const { requestId, endpoint } = call;
      observe(recordOf({ instance, requestId, endpoint }, decision, { outcome: "decided" }));
      return decision;
    },
    decideTier: (tier) => decideTier(tier, "requested", routing),
    async reply(first, prompt, { signal, requestId, endpoint, onFallback, ...wishes }) {
      let decision = first;
      const { fallbackModel } = policy;
      const fallBack = (model: string) => {
        decision = decideFallback(decision, model, routing);
        onFallback?.(decision);
        return open(model);
      };
      const origin = { instance, requestId, endpoint };
      const meter = createTokenMeter(prompt);
      try {
        const reply = await generateReply(prompt, {
          ...wishes,
          signal,
          meter,
          model: open(decision.model),
          redact: services.redact,
          fallback: fallbackModel === null ? undefined : () => fallBack(fallbackModel),
        });
        const outcome = reply.replyError === null ? "replied" : "reply-failed";
        observe(recordOf(origin, decision, { outcome, reply, billed: reply.billed }));
        return { decision, reply };
      } catch (error) {
        observe(recordOf(origin, decision, { outcome: "stopped", billed: meter.billed() }));
        throw error;
      }
    },
  };
}
