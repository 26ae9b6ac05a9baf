import { EvaluatorError } from "evaluator-client";
import { CliError } from "evaluator-kit";
import type { Conversation } from "../conversation/conversation.ts";
import type { Routing } from "../decision/decide.ts";
import type { Decision } from "../decision/decision.ts";
import { findPlan, findPrice } from "../decision/replies.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { readTalk } from "../decision/turns.ts";
import { blindKey } from "../keys/budget-state.ts";
import { CallBudget } from "../keys/call-budget.ts";
import { dearestUsd, expectedTokens } from "../keys/call-price.ts";
import { openLedger } from "../keys/key-database.ts";
import { Ledger } from "../keys/ledger.ts";
import type { RouterKey } from "../keys/router-key.ts";
import type { openDecisionLog } from "../records/decision-log.ts";
import type { PassedRequest } from "../reply/passed-request.ts";
import { type GeneratedReply, generateReply } from "../reply/generate-reply.ts";
import { type ReplyListener, textOfReply } from "../reply/reply-piece.ts";
import { answering, type Target } from "../reply/upstream.ts";
import { billedTokens } from "../reply/billed-tokens.ts";
import { findBilledCost, type BilledTokens, type ModelPrice, newMeter } from "../reply/usage.ts";
import type { BlindNote } from "../report/read-records.ts";
import { judge } from "./judge.ts";
import type { RouterOptions } from "../router-options.ts";

interface BlindParts extends Pick<Routing, "services" | "prices"> {
  readonly log: Pick<Awaited<ReturnType<typeof openDecisionLog>>, "path" | "add"> | null;
  /** Null without named keys; then the spending is kept beside the log. */
  readonly ledger: Ledger | null;
  readonly reportDefect: (error: Error) => void;
  /** @default Math.random */
  readonly random?: () => number;
}

interface Message {
  readonly requestId: string;
  readonly key: RouterKey | null;
  readonly conversation: Conversation;
  /** The request at an API. */
  readonly passed: Pick<PassedRequest, "body" | "unsupported"> | null;
}

/** More messages at once are not drawn. Chosen. */
const MOST_IN_FLIGHT = 4;

/** Compares a share of the replies with those of the cheapest and the dearest tier, in the background. */
export type BlindShadow = ReturnType<typeof openBlindShadow>;

/** Opens the shadow of a router. @throws CliError without a decision log */
export function openBlindShadow(
  options: Pick<RouterOptions, "blind" | "leaseMs"> & { readonly instance: string },
  { log, ledger, reportDefect, random = Math.random, ...parts }: BlindParts,
) {
  if (log === null) {
    throw new CliError("ROUTER_BLIND_SHARE needs ROUTER_DECISION_LOG, where comparisons are kept.");
  }
  const { leaseMs, instance, blind } = options;
  const stop = new AbortController();
  const comparison: ComparisonOptions = {
    ...parts,
    usdPerDay: blind.usdPerDay,
    ledger: ledger ?? new Ledger(() => openLedger(log.path), { leaseMs }),
    note: (requestId, note) =>
      log.add({ time: new Date().toISOString(), instance, requestId, blind: note }),
    signal: stop.signal,
  };
  const inFlight = new Set<Promise<void>>();
  const report = (error: unknown) => {
    if (!stop.signal.aborted && !(error instanceof EvaluatorError)) reportDefect(error as Error);
  };
  return {
    /** Returns a listener that also keeps the text, and the comparison that follows the reply. */
    watch(message: Message, firstDecision: Decision, givenReplyListener: ReplyListener) {
      const isDrawn = random() < blind.share && inFlight.size < MOST_IN_FLIGHT;
      if (!isDrawn || !isComparable(message, firstDecision)) return null;
      const { listener, collected: collectedText } = collectText(givenReplyListener);
      const end = (decision: Decision, reply: GeneratedReply, lostUsd: number | null = 0) => {
        const lastUsd = findBilledCost(reply.billedTokens?.usage ?? null, decision.prices.model);
        if (reply.end === null || collectedText.text === "") return; // it failed or has no text
        if (lastUsd === null || lostUsd === null) return;
        const routedReply = {
          ...message,
          ...collectedText,
          decision,
          costUsd: lastUsd + lostUsd,
        };
        const comparisonWork = compareReplies(routedReply, comparison)
          .catch(report)
          .finally(() => inFlight.delete(comparisonWork));
        inFlight.add(comparisonWork);
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
function isComparable({ key, conversation, passed: passedRequest }: Message, decision: Decision) {
  const messageParts = conversation.messages.flatMap((userMessage) => userMessage.parts);
  const { length } = (passedRequest?.body["tools"] ?? []) as readonly unknown[]; // also those that a service runs
  const isTextOnly = length === 0 && messageParts.every(({ type }) => type === "text");
  const isUnlimited = (key?.tiers ?? key?.models ?? null) === null;
  const isRouted = decision.tierChosen !== null || decision.cause === "fit";
  return isRouted && isUnlimited && isTextOnly && !passedRequest?.unsupported;
}

interface ComparisonOptions extends Pick<Routing, "services" | "prices"> {
  readonly usdPerDay: number;
  readonly ledger: Ledger;
  /** Keeps a comparison, which has no text. */
  readonly note: (requestId: string, blind: BlindNote) => void;
  readonly signal: AbortSignal;
}

interface RoutedReply extends Message {
  readonly decision: Decision;
  readonly text: string;
  /** Whether the text is in the form of an API, as its upstream sent it. */
  readonly isPassed: boolean;
  readonly costUsd: number;
}

interface PricedTier {
  readonly tier: Tier;
  readonly target: Target;
  readonly price: ModelPrice;
}

/** The limit of a reply without one. Chosen: current models write as many tokens at once. */
const MOST_OUTPUT = 16_384;

/** The reservation for three judgements of long answers: sixty thousand tokens at $0.042 a million. */
const JUDGE_USD = 0.0025;

/** Asks the cheapest and the dearest tier too, and lets the decision model judge, within the budget `blind`. */
async function compareReplies(routedReply: RoutedReply, options: ComparisonOptions) {
  const { settings } = routedReply.conversation;
  const limitedFields = { ...settings, maxOutputTokens: settings.maxOutputTokens ?? MOST_OUTPUT };
  const reply = {
    ...routedReply,
    conversation: { ...routedReply.conversation, settings: limitedFields },
  };
  const { note, usdPerDay } = options;
  const ends = endsByPrice(options);
  if (ends === null) return;
  const tokens = expectedTokens(reply.conversation);
  if ((tokens.files ?? 0) > 0) return; // their cost is not known
  const costs = ends.map(({ target }) => dearestUsd({ targets: [target] }, tokens, options.prices));
  const mostUsd = costs.reduce((sum, tierUsd) => sum + tierUsd, JUDGE_USD);
  const budget = new CallBudget(blindKey(usdPerDay), options);
  const isReserved = await budget.reserveUsd(mostUsd).then(
    () => true,
    (error: unknown) => {
      if (Object(error).status === 429) return false;
      throw error;
    },
  );
  if (!isReserved) return;
  const spending = { usd: 0 };
  let pair: BlindNote["pair"] = null;
  try {
    pair = await judged(reply, ends, { ...options, spentTotal: spending });
  } finally {
    await budget.settle(spending.usd, 0);
    note(reply.requestId, { spentUsd: spending.usd, pair });
  }
}

/** Returns the cheapest and the dearest tier; null if a price is unknown or both are one model. */
function endsByPrice({ services, prices }: ComparisonOptions) {
  const pricedTiers = tierNames.flatMap((tier): PricedTier[] => {
    const [target] = services.replies.current.tiers[tier].targets;
    const price = findPrice(target, prices);
    return price === null ? [] : [{ tier, target, price }];
  });
  const [cheapest, ...dearerTiers] = pricedTiers.toSorted(
    (firstTier, secondTier) => perToken(firstTier) - perToken(secondTier),
  );
  const dearest = dearerTiers.at(-1);
  if (pricedTiers.length < tierNames.length || !cheapest || !dearest) return null;
  return cheapest.target.model === dearest.target.model ? null : ([cheapest, dearest] as const);
}

const perToken = ({ price }: PricedTier) =>
  price.inputUsdPerMillionTokens + price.outputUsdPerMillionTokens;

type Spending = ComparisonOptions & { readonly spentTotal: { usd: number } };

/** Returns the judged replies; null if one of the tiers did not reply. */
async function judged(
  reply: RoutedReply,
  endTiers: readonly [PricedTier, PricedTier],
  options: Spending,
) {
  const { requestId, conversation, decision } = reply;
  const headers = { "x-request-id": requestId };
  const [cheapest, dearest] = endTiers;
  const otherTiers = endTiers.filter(({ tier }) => tier !== decision.tierUsed);
  const replayedTier = { ...cheapest, target: toReplay(reply, options) };
  const freeOptions = { ...options, headers, spentTotal: { usd: 0 } };
  const { text } = reply.isPassed ? await askTier(replayedTier, conversation, freeOptions) : reply;
  if (text === "") return null;
  const otherReplies = await Promise.all(
    otherTiers.map((endTier) => askTier(endTier, conversation, { ...options, headers })),
  );
  const replies = [{ tier: decision.tierUsed, text, costUsd: reply.costUsd }, ...otherReplies];
  if (replies.some(({ text }) => text === "")) return null;
  const answers = replies.map(({ text }) => text);
  const judgeRequest = { question: readTalk(conversation).texts.at(-1) ?? "", answers };
  const judgeCall = { signal: options.signal, headers };
  options.spentTotal.usd += JUDGE_USD; // if the judge fails, its cost is unknown
  const { qualities, costUsd } = await judge(options.services.evaluator, judgeRequest, judgeCall);
  options.spentTotal.usd += costUsd - JUDGE_USD;
  const toSide = (wantedTier: Tier | null, decisionUsd = 0) => {
    const replyIndex = replies.findIndex(({ tier }) => tier === wantedTier);
    const costUsd = (replies[replyIndex]?.costUsd ?? 0) + decisionUsd;
    return { tier: wantedTier, quality: qualities[replyIndex] ?? 0, costUsd };
  };
  const routedSide = toSide(decision.tierUsed, decision.costUsd ?? 0);
  return { routed: routedSide, cheapest: toSide(cheapest.tier), dearest: toSide(dearest.tier) };
}

/** Returns a model whose service sends a reply again; its provider reads the text in it. */
function toReplay({ decision, text }: RoutedReply, { services }: Spending): Target {
  const [target] = findPlan(decision, services.replies.current).targets;
  const contentType = /^\s*\{/.test(text) ? "json" : "event-stream";
  return { ...target, upstream: answering(target.upstream, text, contentType) };
}

/** Asks a tier. Its text is empty if it fails. */
async function askTier(
  { tier, target, price }: PricedTier,
  conversation: Conversation,
  options: Spending & { readonly headers: Record<string, string> },
) {
  const { services, signal, spentTotal: spending, headers } = options;
  const { listener, collected: collectedText } = collectText(() => undefined);
  const tierPlan = services.replies.current.tiers[tier];
  const plan = { ...tierPlan, targets: [target], maxRetries: 0 } as const; // each may be billed
  const [redact, meter] = [services.redact, newMeter()];
  const replyOptions = { plan, listener, signal, redact, meter, passed: null, headers };
  // An unknown cost is the reserved one.
  const mostUsd = dearestUsd(plan, expectedTokens(conversation), options.prices);
  const toCost = ({ usage }: BilledTokens) => findBilledCost(usage, price) ?? mostUsd;
  const { end, billedTokens: currentBilledTokens } = await generateReply(
    conversation,
    replyOptions,
  ).catch((failure: unknown) => {
    spending.usd += toCost(billedTokens(meter, conversation));
    throw failure;
  });
  const costUsd = currentBilledTokens === null ? 0 : toCost(currentBilledTokens);
  spending.usd += costUsd;
  return { tier, text: end === null ? "" : collectedText.text, costUsd };
}

/** Returns a listener that also collects the text of a reply, in the form of an API if it passes. */
function collectText(givenReplyListener: ReplyListener) {
  const collectedText = { text: "", isPassed: false };
  const listener: ReplyListener = (part) => {
    collectedText.isPassed = typeof part === "string";
    collectedText.text += typeof part === "string" ? part : textOfReply(part);
    return givenReplyListener(part);
  };
  return { listener, collected: collectedText };
}
