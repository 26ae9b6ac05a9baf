import { decide, type Routing, UnfitCalibrationError } from "./decision/decide.ts";
import type { Decision, TierState } from "./decision/decision.ts";
import { type GeneratedReply, generateReply } from "./reply/generate-reply.ts";
import {
  billedTokens,
  type BilledTokens,
  costOf,
  type Reply,
  type ReplyPrompt,
  type TokenMeter,
} from "./reply/reply.ts";
import type { Services } from "./services/connect-services.ts";
import type { TraceHeaders } from "./services/tracing.ts";

/** A client's call of an endpoint. */
export interface Call {
  readonly requestId: string;
  readonly endpoint: "chat" | "decide" | "openai";
  readonly signal: AbortSignal;
  readonly trace?: TraceHeaders;
}

/** Settings of a reply, and its listeners. */
interface RouterReplyOptions extends Pick<
  Parameters<typeof generateReply>[1],
  "onDelta" | "onToolCalls" | "settings" | "form"
> {
  /** The client's own request, for a server that takes it unchanged. */
  readonly body?: Record<string, unknown>;
  /** The evaluation model's decision if another model replies. */
  readonly autoDecision?: Promise<Decision> | null;
  /** Called with the new decision when another model of the chain is asked. */
  readonly onFallback?: (decision: Decision) => void;
}

/** A reply with its final decision. */
export interface Answer {
  readonly decision: Decision;
  readonly reply: GeneratedReply;
}

interface ObservedRouting extends Routing {
  readonly services: Services;
  /** The router's name in its records. */
  readonly instance: string;
  readonly observers: readonly ((record: MessageRecord) => void)[];
}

/** Decides and replies for all endpoints, and reports the end of each message exactly once. */
export class MessageRouter {
  readonly #routing: ObservedRouting;

  constructor(routing: ObservedRouting) {
    this.#routing = routing;
  }

  /** Lets the evaluation model choose a tier. A shadow's failure is not recorded. */
  async decide(
    state: TierState,
    call: Call,
    { isShadow = false }: { isShadow?: boolean } = {},
  ): Promise<Decision> {
    const options = { signal: call.signal, headers: this.#headersOf(call) };
    try {
      return await decide(state, this.#routing, options);
    } catch (thrown) {
      const outcome = call.signal.aborted ? "stopped" : "no-decision";
      const failure = thrown instanceof Error ? thrown : new Error("Not an error was thrown.");
      if (!isShadow) this.#record(call, { outcome, failure });
      throw thrown;
    }
  }

  async decideOnly(state: TierState, call: Call): Promise<Decision> {
    const decision = await this.decide(state, call);
    this.#record(call, { outcome: "decided", decision });
    return decision;
  }

  /** Asks the decision's model; a failure is data. */
  async reply(
    first: Decision,
    prompt: ReplyPrompt,
    given: RouterReplyOptions & Call,
  ): Promise<Answer> {
    const { autoDecision = null, onFallback, body, ...options } = given;
    const { services, policy, prices } = this.#routing;
    const { redact, tracing } = services;
    // A client that names a model wants only that one.
    const chain = first.tierUsed === null ? [] : policy.fallbackModels;
    const meter: TokenMeter = { characters: 0, reported: null };
    let decision = first;
    const ask = () =>
      generateReply(prompt, {
        ...options,
        redact,
        meter,
        headers: this.#headersOf(options),
        models: [first.model, ...chain.filter((model) => model !== first.model)],
        openModel: (model, listener) => services.languageModel(model, { listener, body }),
        onNext(model, cause) {
          const asked = { ...decision.prices, model: prices.get(model) ?? null };
          decision = { ...decision, model, cause, prices: asked };
          onFallback?.(decision);
        },
      });
    try {
      const reply = await (tracing === null ? ask() : tracing.reply(() => decision.model, ask));
      const outcome = reply.replyError === null ? "replied" : "reply-failed";
      const end = { outcome, decision, reply, billed: reply.billed } as const;
      this.#record(options, end, autoDecision);
      return { decision, reply };
    } catch (error) {
      const billed = billedTokens(meter, prompt);
      this.#record(options, { outcome: "stopped", decision, billed }, autoDecision);
      throw error;
    }
  }

  #record(call: Call, end: MessageEnd, autoDecision: Promise<Decision> | null = null): void {
    if (autoDecision !== null) {
      // The reply does not wait; a failed decision is recorded as none.
      void autoDecision.catch(() => null).then((auto) => this.#record(call, { ...end, auto }));
      return;
    }
    const { instance, observers } = this.#routing;
    const record = toMessageRecord(instance, call, end);
    for (const observe of observers) observe(record);
  }

  /** Ids of a message for the services that decide and reply. */
  #headersOf({ requestId, trace }: Call): Record<string, string> {
    const { tracing } = this.#routing.services;
    return { "x-request-id": requestId, ...(tracing === null ? trace : tracing.headers()) };
  }
}

/** One message in the decision log: ids, shares, times and costs, never its text. */
export type MessageRecord = ReturnType<typeof toMessageRecord>;

interface MessageEnd {
  readonly outcome: "replied" | "decided" | "reply-failed" | "no-decision" | "stopped";
  readonly failure?: Error;
  readonly decision?: Decision;
  readonly reply?: Reply;
  /** The tokens to pay for, whole reply or not. */
  readonly billed?: BilledTokens | null;
  /** The decision of `auto` if another model replied. */
  readonly auto?: Decision | null;
}

function toMessageRecord(instance: string, { requestId, endpoint }: Call, end: MessageEnd) {
  const { outcome, failure, decision, reply, billed, auto } = end;
  const chosen = auto ?? decision; // tier, model and cause are those of the reply
  const asked = failure instanceof UnfitCalibrationError ? failure.evaluation : chosen;
  const usage = billed?.usage ?? null;
  const shadow = auto && {
    tierUsed: auto.tierUsed,
    model: auto.model,
    cause: auto.cause,
    replyCostUsd: costOf(usage, auto.prices.model),
  };
  return {
    time: new Date().toISOString(),
    /** The router that answered, if several share a limit. */
    instance,
    requestId,
    endpoint,
    outcome,
    /** The error's name if there is no decision, such as `TimeoutError`. */
    failure: failure?.name ?? null,
    evaluationId: asked?.evaluationId ?? null,
    evaluatorModelId: asked?.evaluatorModelId ?? null,
    questionHash: asked?.questionHash ?? null,
    wire: asked?.wire ?? null,
    decisionMs: asked?.decisionMs ?? null,
    decisionCostUsd: asked?.costUsd ?? null,
    tierChosen: chosen?.tierChosen ?? null,
    tierUsed: decision?.tierUsed ?? null,
    cause: decision?.cause ?? null,
    model: decision?.model ?? null,
    probabilities: chosen?.probabilities ?? null,
    printedProbabilities: chosen?.printedProbabilities ?? null,
    confidence: chosen?.confidence ?? null,
    promise: chosen?.promise ?? null,
    replyMs: reply?.replyMs ?? null,
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    /** Whether the tokens and costs are an estimate, as the service reported none. */
    isEstimate: billed?.isEstimate ?? false,
    // Prices in US dollars, null if unknown; the frontier tier's is for the same tokens.
    replyCostUsd: costOf(usage, decision?.prices.model ?? null),
    frontierCostUsd: costOf(usage, decision?.prices.frontier ?? null),
    /** The decision of `auto` if ROUTER_SHADOW's model replied, with its price of the same tokens. */
    shadow: shadow ?? null,
  };
}
