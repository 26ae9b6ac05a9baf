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
export function evaluationUsd(evaluatedText: string): number {
  const mostTokens = computeMostTokens(evaluatedText + JSON.stringify(tierQuestions));
  return (mostTokens * EVALUATION_USD_PER_MILLION_TOKENS) / 1_000_000;
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
  const messageParts = messages.flatMap((message) => message.parts);
  const inner = messageParts.flatMap((part) => (part.type === "toolResult" ? part.parts : []));
  const cacheMarks = [...messageParts, ...inner, ...tools].map((each) => each.providerOptions);
  return {
    ...toMostInput(conversation),
    output: settings.maxOutputTokens ?? OUTPUT_STEP,
    thinking: computeThinking(conversation),
    isLong: JSON.stringify([providerOptions, cacheMarks]).includes('"ttl":"1h"'),
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
  const reasoningEffort = settings.reasoning;
  const ofEffort = reasoningEffort === undefined ? 0 : thinkingParts[reasoningEffort] * MOST_OUTPUT;
  return Math.max(Number(thinking.budgetTokens ?? 0), ofEffort);
}

/** Returns the error of a call without a known price, which no budget can reserve; `next` is the next step. */
export function noPrice(of: string, nextStep: string): HttpError {
  return new HttpError(400, `The key has a budget, and there is no price for ${of}: ${nextStep}.`);
}

/** Returns the cost in US dollars at the dearest model of a plan. @throws HttpError (400) without a price */
export function dearestUsd(
  { targets }: Pick<ReplyPlan, "targets">,
  callTokens: CallTokens,
  prices: Routing["prices"],
): number {
  const targetCosts = targets.map((target) => {
    const modelPrice = findPrice(target, prices);
    if (modelPrice === null) throw noPrice(target.model, "set one in router.config.json");
    const searchUsd = findSearchUsd(target.model, modelPrice);
    if (searchUsd === null) throw noPrice(`${target.model}'s searches`, "set its usdPerSearch");
    return mostUsd(target, modelPrice, callTokens) + searchUsd;
  });
  return Math.max(...targetCosts);
}

function mostUsd({ model, upstream }: Target, modelPrice: ModelPrice, tokens: CallTokens): number {
  const { images = 0, files = 0, thinking = 0, isLong = false } = tokens;
  if (files > 0 && modelPrice.tokensPerFile === undefined) {
    const problem = `The key has a budget, and messages have a document whose tokens are not known before ${model} reads it`;
    const nextStep = "send its text, or set tokensPerFile in the price of router.config.json.";
    throw new HttpError(400, `${problem}: ${nextStep}`, { param: "messages" });
  }
  const { tokensPerFile = TOKENS_PER_IMAGE } = modelPrice;
  const inputTokens = tokens.input + (images + files) * tokensPerFile;
  const isAdded = upstream.type === "gateway" && model.startsWith("anthropic/");
  const outputTokens = tokens.output + (isAdded ? thinking : 0);
  const { makerOf } = upstreamTypes[upstream.type];
  const hasCacheWrites = makerOf(model) === "anthropic" || isOfAnthropic(model);
  // No cache may have the input, and writing it to a cache can cost more.
  const stepCosts = [modelPrice, priceFrom(modelPrice, inputTokens)].map((each) => {
    const { inputUsdPerMillionTokens: perInput } = each;
    const longWriteUsd = isLong ? (each.longCacheWriteUsdPerMillionTokens ?? 2 * perInput) : 0;
    const cacheWriteUsd =
      each.cacheWriteUsdPerMillionTokens ?? (hasCacheWrites ? CACHE_WRITE_FACTOR * perInput : 0);
    const dearest = Math.max(perInput, cacheWriteUsd, longWriteUsd);
    return inputTokens * dearest + outputTokens * each.outputUsdPerMillionTokens;
  });
  return Math.max(...stepCosts) / 1_000_000;
}
