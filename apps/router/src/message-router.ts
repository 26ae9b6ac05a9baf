import {
  decide,
  decideFallback,
  decideModel,
  decideTier,
  type Routing,
} from "./decision/decide.ts";
import type { Decision, TierState } from "./decision/decision.ts";
import {
  type CallOrigin,
  type MessageEnd,
  type MessageRecord,
  type Observe,
  recordOf,
  recordOfFailure,
} from "./records/message-record.ts";
import { createTokenMeter } from "./prices/tokens.ts";
import { generateReply, type OpenModel, type ReplyOptions } from "./reply/generate-reply.ts";
import type { GeneratedReply, ReplyPrompt } from "./reply/reply.ts";
import type { TraceHeaders, Tracing } from "./services/services.ts";
import type { Tier } from "./tier-question.ts";

/** Who asked, and what ends the asking. */
export interface Call extends Omit<CallOrigin, "instance"> {
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  /** The caller's own trace. @default none */
  readonly trace?: TraceHeaders;
}

/** What a reply is to be like, and what is called while it comes. */
export interface RouterReplyOptions extends Pick<
  ReplyOptions,
  "onDelta" | "onToolCalls" | "settings" | "form"
> {
  /** The client's own request, for a server that takes it as it came. */
  readonly body?: Record<string, unknown>;
  /** What the evaluation model chooses beside it, where another model replies. */
  readonly autoDecision?: Promise<Decision> | null;
  /** Called with the new decision when another model of the chain is asked. */
  readonly onFallback?: (decision: Decision) => void;
}

/** A reply, and the decision that holds in the end. */
export interface Answer {
  readonly decision: Decision;
  readonly reply: GeneratedReply;
}

type ObservedRouting = Routing & { instance: string; observers: readonly Observe[] };

/** Decides and replies for all endpoints, and reports each message's end exactly once. */
export class MessageRouter {
  readonly #routing: ObservedRouting;

  constructor(routing: ObservedRouting) {
    this.#routing = routing;
  }

  /** Lets the evaluation model choose, for a reply that follows; no tier below `atLeast` is taken. */
  async decide(state: TierState, call: Call, atLeast: Tier | null = null): Promise<Decision> {
    try {
      return await this.decideUnrecorded(state, call, atLeast);
    } catch (thrown) {
      const outcome = call.signal.aborted ? "stopped" : "no-decision";
      const error = thrown instanceof Error ? thrown : new Error("Not an error was thrown.");
      this.#observe(recordOfFailure(this.#originOf(call), outcome, error));
      throw thrown;
    }
  }

  /** Lets the evaluation model choose for a message that another one answers. */
  decideUnrecorded(state: TierState, call: Call, atLeast: Tier | null = null): Promise<Decision> {
    const { policy } = this.#routing;
    // The contract's endpoints take the choice as it is.
    const own = call.endpoint === "openai" ? policy : { ...policy, ties: "choice" as const };
    const asked = { signal: call.signal, headers: this.#headersOf(call) };
    return decide(state, { ...this.#routing, policy: own, atLeast }, asked);
  }

  /** Lets the evaluation model choose, and nothing more. */
  async decideOnly(state: TierState, call: Call): Promise<Decision> {
    const decision = await this.decide(state, call);
    this.#observe(recordOf(this.#originOf(call), decision, { outcome: "decided" }));
    return decision;
  }

  /** Takes the tier the client asks for. */
  decideTier(tier: Tier): Decision {
    return decideTier(tier, "requested", this.#routing);
  }

  /** Takes the model the client asks for. */
  decideModel(model: string, cause?: "requested" | "shadow"): Decision {
    return decideModel(model, this.#routing, cause);
  }

  /** Asks the decision's model; a failure is data. */
  async reply(
    first: Decision,
    prompt: ReplyPrompt,
    given: RouterReplyOptions & Call,
  ): Promise<Answer> {
    const { autoDecision = null, onFallback, body, ...options } = given;
    const { services, policy } = this.#routing;
    let decision = first;
    const open = (model: string): OpenModel => {
      return (listener) => services.languageModel(model, { listener, body });
    };
    // Who names a model wants that one.
    const chain = first.tierUsed === null ? [] : policy.fallbackModels;
    const models = chain.filter((model) => model !== first.model);
    const meter = createTokenMeter(prompt);
    const ask = () =>
      generateReply(prompt, {
        ...options,
        headers: this.#headersOf(options),
        meter,
        model: open(decision.model),
        redact: services.redact,
        chain: models.map(open),
        onNext: (index, cause) => {
          const next = { model: models[index] ?? "", cause };
          decision = decideFallback(decision, next, this.#routing);
          onFallback?.(decision);
        },
      });
    const report = (end: MessageEnd) =>
      this.#reportEnd(end, { decision, call: options, autoDecision });
    try {
      const reply = await traced(services.tracing ?? null, ask, () => decision.model);
      const outcome = reply.replyError === null ? "replied" : "reply-failed";
      report({ outcome, reply, billed: reply.billed });
      return { decision, reply };
    } catch (error) {
      report({ outcome: "stopped", billed: meter.billed() });
      throw error;
    }
  }

  #reportEnd(end: MessageEnd, { decision, call, autoDecision }: EndedMessage): void {
    const origin = this.#originOf(call);
    if (autoDecision === null) return this.#observe(recordOf(origin, decision, end));
    // The reply does not wait for it; a decision that failed is recorded as none.
    void autoDecision
      .catch(() => null)
      .then((auto) => this.#observe(recordOf(origin, decision, { ...end, auto })));
  }

  #observe(record: MessageRecord): void {
    for (const observe of this.#routing.observers) observe(record);
  }

  #originOf({ requestId, endpoint }: Call): CallOrigin {
    return { instance: this.#routing.instance, requestId, endpoint };
  }

  /** What follows a message to the services that decide and reply. */
  #headersOf({ requestId, trace }: Call): Record<string, string> {
    const { tracing = null } = this.#routing.services;
    return { "x-request-id": requestId, ...(tracing?.headers() ?? trace) };
  }
}

interface EndedMessage {
  readonly decision: Decision;
  readonly call: Call;
  /** What the evaluation model chooses beside it; null where it was not asked. */
  readonly autoDecision: Promise<Decision> | null;
}

/** Runs a reply as a span, where there is tracing; its model is known at the end only. */
function traced(
  tracing: Tracing | null,
  ask: () => Promise<GeneratedReply>,
  modelNow: () => string,
): Promise<GeneratedReply> {
  if (tracing === null) return ask();
  return tracing.reply(modelNow(), async (endSpan) => {
    const reply = await ask();
    const { inputTokens = null, outputTokens = null } = reply.usage ?? {};
    const hasFailed = reply.replyError !== null;
    endSpan({ model: modelNow(), inputTokens, outputTokens, hasFailed });
    return reply;
  });
}
