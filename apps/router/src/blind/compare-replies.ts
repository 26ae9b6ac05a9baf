import type { Conversation } from "../conversation/conversation.ts";
import { readUserTurns } from "../conversation/user-turns.ts";
import type { Routing } from "../decision/decide.ts";
import type { Decision } from "../decision/decision.ts";
import { priceOf } from "../decision/replies.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { toNano } from "../keys/budget-state.ts";
import { dearestUsd, expectedTokens, OUTPUT_STEP } from "../keys/call-price.ts";
import type { Ledger } from "../keys/ledger.ts";
import { type GeneratedReply, generateReply } from "../reply/generate-reply.ts";
import type { ReplyListener } from "../reply/reply-listener.ts";
import type { Target } from "../reply/upstream.ts";
import { costOf, type ModelPrice } from "../reply/usage.ts";
import type { BlindNote } from "../report/read-records.ts";
import { judge } from "./judge.ts";

/** The parts of a comparison. */
export interface ComparisonOptions extends Pick<Routing, "services" | "prices"> {
  readonly usdPerDay: number;
  readonly ledger: Pick<Ledger, "reserve" | "settle">;
  /** Keeps a comparison, which has no text. */
  readonly note: (requestId: string, blind: BlindNote) => void;
  readonly signal: AbortSignal;
}

/** A reply that the client has. */
interface RoutedReply {
  readonly requestId: string;
  readonly conversation: Conversation;
  readonly decision: Decision;
  readonly reply: GeneratedReply;
  readonly text: string;
}

interface PricedTier {
  readonly tier: Tier;
  readonly target: Target;
  readonly price: ModelPrice;
}

/** Asks the cheapest and the dearest tier too, and lets the decision model judge, within the budget `blind`. */
export async function compareReplies(
  routed: RoutedReply,
  options: ComparisonOptions,
): Promise<void> {
  const { ledger, note, usdPerDay } = options;
  const ends = endsByPrice(options);
  if (ends === null) return;
  const key = { budget: "blind", usdPerDay, usdPerMonth: null };
  const { held } = await ledger.reserve(key, [toNano(mostUsd(routed, ends, options))]);
  if (held === null) return;
  const spent = { usd: 0 };
  let pair: BlindNote["pair"] = null;
  try {
    pair = await judged(routed, ends, { ...options, spent });
  } finally {
    await ledger.settle(key, held, toNano(spent.usd));
    note(routed.requestId, { spentUsd: spent.usd, pair });
  }
}

/** Returns the cheapest and the dearest tier by price; null if a price is unknown or both are one model. */
function endsByPrice({ services, prices }: ComparisonOptions) {
  const priced = tierNames.flatMap((tier): PricedTier[] => {
    const [target] = services.replies.current.tiers[tier].targets;
    const price = priceOf(target, prices);
    return price === null ? [] : [{ tier, target, price }];
  });
  const [cheapest, ...dearer] = priced.toSorted((one, other) => perToken(one) - perToken(other));
  const dearest = dearer.at(-1);
  if (cheapest === undefined || dearest === undefined || priced.length < tierNames.length)
    return null;
  return cheapest.target.model === dearest.target.model ? null : { cheapest, dearest };
}

function perToken({ price }: PricedTier): number {
  return price.inputUsdPerMillionTokens + price.outputUsdPerMillionTokens;
}

type Ends = NonNullable<ReturnType<typeof endsByPrice>>;

/** The reservation for three judgements of long answers: sixty thousand tokens at $0.042 a million. */
const JUDGE_USD = 0.0025;

/** @throws HttpError without a price, which `endsByPrice` excludes */
function mostUsd(
  { conversation }: RoutedReply,
  ends: Ends,
  { prices, services }: ComparisonOptions,
) {
  const tokens = expectedTokens(conversation);
  const costs = Object.values(ends).map(({ tier, target }) =>
    dearestUsd({ ...services.replies.current.tiers[tier], targets: [target] }, tokens, prices),
  );
  return costs.reduce((sum, cost) => sum + cost, JUDGE_USD);
}

type Spending = ComparisonOptions & { readonly spent: { usd: number } };

/** Returns the judged replies; null if one of the tiers did not reply. */
async function judged(routed: RoutedReply, { cheapest, dearest }: Ends, options: Spending) {
  const { decision, conversation, requestId } = routed;
  const ownUsd = costOf(routed.reply.billed?.usage ?? null, decision.prices.model);
  const own = { tier: decision.tierUsed, text: routed.text, costUsd: ownUsd ?? 0 };
  const others = [cheapest, dearest].filter(({ tier }) => tier !== own.tier);
  const asked = await Promise.all(others.map((each) => answerOf(each, routed, options)));
  const replies = [own, ...asked];
  if (replies.some(({ text }) => text === "")) return null;
  const question = readUserTurns(conversation).at(-1) ?? "";
  const request = { question, answers: replies.map(({ text }) => text) };
  const call = { signal: options.signal, headers: { "x-request-id": requestId } };
  const { qualities, costUsd } = await judge(options.services.evaluator, request, call);
  options.spent.usd += costUsd;
  const sideOf = (tier: Tier | null) => {
    const at = replies.findIndex((reply) => reply.tier === tier);
    return { tier, quality: qualities[at] ?? 0, costUsd: replies[at]?.costUsd ?? 0 };
  };
  const side = sideOf(own.tier);
  return {
    routed: { ...side, costUsd: side.costUsd + (decision.costUsd ?? 0) },
    cheapest: sideOf(cheapest.tier),
    dearest: sideOf(dearest.tier),
  };
}

/** Asks a tier. Its text is empty if it fails. */
async function answerOf(
  { tier, target, price }: PricedTier,
  routed: RoutedReply,
  options: Spending,
) {
  const { services, signal, spent } = options;
  const { conversation, requestId } = routed;
  const { listener, text } = collectText({ onPieces: () => undefined, onBytes: () => undefined });
  const settings = { maxOutputTokens: OUTPUT_STEP, ...conversation.settings };
  const { end, billed } = await generateReply(
    { ...conversation, settings },
    {
      plan: { ...services.replies.current.tiers[tier], targets: [target] },
      listener,
      signal,
      redact: services.redact,
      meter: { characters: 0, reported: null },
      passed: null,
      headers: { "x-request-id": requestId },
    },
  );
  const costUsd = costOf(billed?.usage ?? null, price) ?? 0;
  spent.usd += costUsd;
  return { tier, text: end === null ? "" : text(), costUsd };
}

/** Returns a listener that also collects the text of a reply. */
export function collectText(given: ReplyListener) {
  let text = "";
  const onPieces: ReplyListener["onPieces"] = (pieces) => {
    for (const piece of pieces) if (piece.type === "text") text += piece.text;
    return given.onPieces(pieces);
  };
  return { listener: { ...given, onPieces }, text: () => text };
}
