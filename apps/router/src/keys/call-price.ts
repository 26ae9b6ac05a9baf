import { type Conversation, filesOf, textOf } from "../conversation/conversation.ts";
import type { Routing } from "../decision/decide.ts";
import { priceOf } from "../decision/replies.ts";
import { tierQuestions } from "../decision/tier-question.ts";
import { HttpError } from "../http-error.ts";
import type { ReplyPlan } from "../reply/upstream.ts";

/** The output that is reserved, again and again, for a reply without a limit. */
export const OUTPUT_STEP = 4096;

/** Anthropic's count of the largest image that it does not shrink. */
const TOKENS_PER_IMAGE = 1600;

/** The price of an evaluation's input; its output is free (contract section 1, rule 11). */
const EVALUATION_USD_PER_MILLION_TOKENS = 0.042;

/** Returns the expected tokens of a text: few tokenizers make more of it. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3);
}

/** Returns the expected cost of the evaluation of a text in US dollars. */
export function evaluationUsd(text: string): number {
  const tokens = tokensOf(text + JSON.stringify(tierQuestions));
  return (tokens * EVALUATION_USD_PER_MILLION_TOKENS) / 1_000_000;
}

/** Returns the expected tokens of a reply to a conversation. */
export function expectedTokens({ messages, tools, format, settings }: Conversation) {
  const parts = messages.flatMap((message) => message.parts);
  const files = parts.flatMap(filesOf).map(({ type, url }) => {
    return type === "image" ? TOKENS_PER_IMAGE : tokensOf(url);
  });
  const texts = tokensOf(textOf(parts) + JSON.stringify([tools, format]));
  const input = files.reduce((sum, tokens) => sum + tokens, texts);
  return { input, output: settings.maxOutputTokens ?? OUTPUT_STEP };
}

/** Returns the cost in US dollars at the dearest model of a plan. @throws HttpError (400) without a price */
export function dearestUsd(
  { targets }: ReplyPlan,
  { input, output }: { readonly input: number; readonly output: number },
  prices: Routing["prices"],
): number {
  const costs = targets.map((target) => {
    const price = priceOf(target, prices);
    const problem = `The key has a budget, and there is no price for ${target.model}`;
    if (price === null) throw new HttpError(400, `${problem}: set one in router.config.json.`);
    // No cache may have the input, and writing it to a cache can cost more.
    const written = price.cacheWriteUsdPerMillionTokens ?? 0;
    const perInput = Math.max(price.inputUsdPerMillionTokens, written);
    return (input * perInput + output * price.outputUsdPerMillionTokens) / 1_000_000;
  });
  return Math.max(...costs);
}
