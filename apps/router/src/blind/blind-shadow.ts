import { CliError } from "evaluator-kit";
import { EvaluatorError } from "evaluator-client";
import { openLedger } from "../keys/key-database.ts";
import { Ledger } from "../keys/ledger.ts";
import type { openDecisionLog } from "../records/decision-log.ts";
import type { RouterOptions } from "../router-options.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { Decision } from "../decision/decision.ts";
import type { RouterKey } from "../keys/router-key.ts";
import type { GeneratedReply } from "../reply/generate-reply.ts";
import type { ReplyListener } from "../reply/reply-piece.ts";
import { costOf } from "../reply/usage.ts";
import { collectText, compareReplies } from "./compare-replies.ts";

interface BlindOptions extends Omit<Parameters<typeof compareReplies>[1], "signal"> {
  /** The share of the messages that are compared, 0..1. */
  readonly share: number;
  readonly reportDefect: (error: Error) => void;
  /** @default Math.random */
  readonly random?: () => number;
}

interface BlindParts extends Pick<BlindOptions, "services" | "prices" | "reportDefect"> {
  readonly log: Pick<Awaited<ReturnType<typeof openDecisionLog>>, "path" | "add"> | null;
  /** Null without named keys; then the spending is kept beside the log. */
  readonly ledger: Ledger | null;
}

/** Opens the shadow of a router. @throws CliError without a decision log */
export function openBlindShadow(
  { blind, leaseMs, instance }: RouterOptions & { readonly instance: string },
  { log, ledger, ...parts }: BlindParts,
): BlindShadow {
  if (log === null) {
    throw new CliError("ROUTER_BLIND_SHARE needs ROUTER_DECISION_LOG, where comparisons are kept.");
  }
  return createBlindShadow({
    ...parts,
    ...blind,
    ledger: ledger ?? new Ledger(() => openLedger(log.path), { leaseMs }),
    note: (requestId, note) =>
      log.add({ time: new Date().toISOString(), instance, requestId, blind: note }),
  });
}

interface Message {
  readonly requestId: string;
  readonly key: RouterKey | null;
  readonly conversation: Conversation;
}

/** More messages at once are not drawn. Chosen. */
const MOST_IN_FLIGHT = 4;

/** Compares a share of the replies with those of the cheapest and the dearest tier, in the background. */
export type BlindShadow = ReturnType<typeof createBlindShadow>;

/** Creates a shadow. */
export function createBlindShadow(options: BlindOptions) {
  const { share, random = Math.random, reportDefect } = options;
  const stop = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const report = (error: unknown) => {
    if (!stop.signal.aborted && !(error instanceof EvaluatorError)) reportDefect(error as Error);
  };
  return {
    /** Returns a listener that also keeps the text, and the comparison that follows the reply. */
    watch(message: Message, first: Decision, given: ReplyListener) {
      const isDrawn = random() < share && inFlight.size < MOST_IN_FLIGHT;
      if (!isDrawn || !isComparable(message, first)) return null;
      const { listener, text } = collectText(given);
      const end = (decision: Decision, reply: GeneratedReply) => {
        const costUsd = costOf(reply.billed?.usage ?? null, decision.prices.model);
        // It failed, passed on unread, or has no known cost.
        if (reply.end === null || text() === "" || costUsd === null) return;
        const { requestId, conversation } = message;
        const routed = { requestId, conversation, decision, text: text(), costUsd };
        const work = compareReplies(routed, { ...options, signal: stop.signal })
          .catch(report)
          .finally(() => inFlight.delete(work));
        inFlight.add(work);
      };
      return { listener, end };
    },
    /** Ends the comparisons in flight. */
    async close() {
      stop.abort();
      await Promise.all(inFlight);
    },
  };
}

/** Only `auto` that the evaluation model routed, for any model, and texts alone: no tool is called twice. */
function isComparable({ key, conversation: { messages, tools } }: Message, decision: Decision) {
  const isText = messages.every(({ parts }) => parts.every(({ type }) => type === "text"));
  const isFree = (key?.tiers ?? key?.models ?? null) === null;
  const isRouted = decision.tierChosen !== null || decision.cause === "fit";
  return isRouted && isFree && tools.length === 0 && isText;
}
