import type { Conversation, ReplySettings } from "../conversation/conversation.ts";
import { toMostInput, computeMostTokens, TOKENS_PER_IMAGE } from "../conversation/input-tokens.ts";
import { isOfAnthropic, upstreamTypes } from "../conversation/upstream-types.ts";
import type { Routing } from "../decision/decide.ts";
import { findPrice } from "../decision/replies.ts";
import { tierQuestions } from "../decision/tier-question.ts";
import { HttpError } from "../http-error.ts";
import type { ReplyPlan, Target } from "../reply/upstream.ts";
import { CACHE_WRITE_FACTOR, type ModelPrice, priceFrom, findSearchUsd } from "../reply/usage.ts";

/** The output that is reserved for a reply without a limit, and again and again for more. */
export const OUTPUT_STEP = 4096;

/** The price of an evaluation's input; its output is free (contract section 1, rule 11). */
export const EVALUATION_USD_PER_MILLION_TOKENS = 0.042;

/** Returns the most that the evaluation of a text costs in US dollars. */
export function evaluationUsd(text: string): number {
  const tokens = computeMostTokens(text + JSON.stringify(tierQuestions));
  return (tokens * EVALUATION_USD_PER_MILLION_TOKENS) / 1_000_000;
}

/** The most tokens of a call. */
export interface CallTokens {
  readonly input: number;
  readonly output: number;
  readonly images?: number;
  /** Files whose length is not known. */
  readonly files?: number;
  /** Thinking that the gateway adds to the output of Anthropic's models. */
  readonly thinking?: number;
  /** Whether input is kept for an hour. */
  readonly isLong?: boolean;
}

/** Returns the most tokens of a reply to a conversation. */
export function expectedTokens(conversation: Conversation): CallTokens {
  const { messages, tools, settings, providerOptions } = conversation;
  const parts = messages.flatMap((message) => message.parts);
  const inner = parts.flatMap((part) => (part.type === "toolResult" ? part.parts : []));
  const marks = [...parts, ...inner, ...tools].map((each) => each.providerOptions);
  return {
    ...toMostInput(conversation),
    output: settings.maxOutputTokens ?? OUTPUT_STEP,
    thinking: computeThinking(conversation),
    isLong: JSON.stringify([providerOptions, marks]).includes('"ttl":"1h"'),
  };
}

/** The most output of a model of Anthropic, and the parts of it that the gateway thinks for an effort. */
const MOST_OUTPUT = 128_000;
const thinkingParts: Readonly<Record<NonNullable<ReplySettings["reasoning"]>, number>> = {
  none: 0,
  minimal: 0.1, // a model without it takes low
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 1,
  max: 1,
  "provider-default": 1,
};

function computeThinking({ settings, providerOptions }: Conversation): number {
  const thinking = Object(providerOptions["anthropic"]?.["thinking"]) as { budgetTokens?: unknown };
  const effort = settings.reasoning;
  const ofEffort = effort === undefined ? 0 : thinkingParts[effort] * MOST_OUTPUT;
  return Math.max(Number(thinking.budgetTokens ?? 0), ofEffort);
}

/** Returns the error of a call without a known price, which no budget can reserve; `next` is the next step. */
export function noPrice(of: string, next: string): HttpError {
  return new HttpError(400, `The key has a budget, and there is no price for ${of}: ${next}.`);
}

/** Returns the cost in US dollars at the dearest model of a plan. @throws HttpError (400) without a price */
export function dearestUsd(
  { targets }: Pick<ReplyPlan, "targets">,
  tokens: CallTokens,
  prices: Routing["prices"],
): number {
  const costs = targets.map((target) => {
    const price = findPrice(target, prices);
    if (price === null) throw noPrice(target.model, "set one in router.config.json");
    const fee = findSearchUsd(target.model, price);
    if (fee === null) throw noPrice(`${target.model}'s searches`, "set its usdPerSearch");
    return mostUsd(target, price, tokens) + fee;
  });
  return Math.max(...costs);
}

function mostUsd({ model, upstream }: Target, price: ModelPrice, tokens: CallTokens): number {
  const { images = 0, files = 0, thinking = 0, isLong = false } = tokens;
  if (files > 0 && price.tokensPerFile === undefined) {
    const problem = `The key has a budget, and messages have a document whose tokens are not known before ${model} reads it`;
    const next = "send its text, or set tokensPerFile in the price of router.config.json.";
    throw new HttpError(400, `${problem}: ${next}`, { param: "messages" });
  }
  const { tokensPerFile = TOKENS_PER_IMAGE } = price;
  const input = tokens.input + (images + files) * tokensPerFile;
  const isAdded = upstream.type === "gateway" && model.startsWith("anthropic/");
  const output = tokens.output + (isAdded ? thinking : 0);
  const { makerOf } = upstreamTypes[upstream.type];
  const hasCacheWrites = makerOf(model) === "anthropic" || isOfAnthropic(model);
  // No cache may have the input, and writing it to a cache can cost more.
  const costs = [price, priceFrom(price, input)].map((each) => {
    const { inputUsdPerMillionTokens: perInput } = each;
    const long = isLong ? (each.longCacheWriteUsdPerMillionTokens ?? 2 * perInput) : 0;
    const write =
      each.cacheWriteUsdPerMillionTokens ?? (hasCacheWrites ? CACHE_WRITE_FACTOR * perInput : 0);
    const dearest = Math.max(perInput, write, long);
    return input * dearest + output * each.outputUsdPerMillionTokens;
  });
  return Math.max(...costs) / 1_000_000;
}
