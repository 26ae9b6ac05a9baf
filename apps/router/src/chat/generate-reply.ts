import { generateText, type LanguageModel, type LanguageModelUsage } from "ai";
import type { Redact } from "../security/redactor.ts";
import type { Reply, TokenUsage } from "./chat-response.ts";
import { describeReplyFailure } from "./describe-reply-failure.ts";

/** Who replies, and what surrounds the call. */
export interface ReplyOptions {
  readonly model: LanguageModel;
  /** Ends the call; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Takes secrets out of a failure's text. */
  readonly redact: Redact;
  /** Time for the whole call, retries included, in milliseconds. @default 300000 */
  readonly timeoutMs?: number;
  /** Monotonic time in milliseconds. @default performance.now */
  readonly now?: () => number;
}

/** Generates a reply to the prompt alone: no system prompt, no history. A failure is data. */
export async function generateReply(
  prompt: string,
  { model, signal, redact, timeoutMs = 300_000, now = () => performance.now() }: ReplyOptions,
): Promise<Reply> {
  const startedAt = now();
  const elapsedMs = () => Math.round(now() - startedAt);
  try {
    const limits = { abortSignal: signal, timeout: timeoutMs };
    const { text, usage } = await generateText({ model, prompt, ...limits });
    return { replyMs: elapsedMs(), reply: text, replyError: null, usage: toTokenUsage(usage) };
  } catch (error) {
    signal.throwIfAborted();
    const replyError = redact(describeReplyFailure(error));
    return { replyMs: elapsedMs(), reply: "", replyError, usage: null };
  }
}

function toTokenUsage({ inputTokens, outputTokens, totalTokens }: LanguageModelUsage): TokenUsage {
  return {
    inputTokens: inputTokens ?? null,
    outputTokens: outputTokens ?? null,
    totalTokens: totalTokens ?? null,
  };
}
