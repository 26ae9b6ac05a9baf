import type { FinishReason, LanguageModel } from "ai";
import type { Reply } from "../chat/chat-response.ts";
import type { Redact } from "../security/redactor.ts";
import { askForText, type ReplyPrompt, type TextCall } from "./ask-for-text.ts";
import { describeReplyFailure } from "./describe-reply-failure.ts";
import { isRefusal } from "./is-refusal.ts";
import { redactDeltas } from "./redact-deltas.ts";
import { toTokenUsage } from "./to-token-usage.ts";

/** Who replies, and what surrounds the call. */
export interface ReplyOptions {
  readonly model: LanguageModel;
  /** Ends the call; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Takes secrets out of the reply, or of what its failure says. */
  readonly redact: Redact;
  /** Gives the model to ask when the first one is refused; is called at most once. */
  readonly fallback?: (() => LanguageModel) | undefined;
  /** Is given each piece of the text as it comes. */
  readonly onDelta?: TextCall["onDelta"];
  /** Temperature, stop words and the like. @default {} */
  readonly settings?: TextCall["settings"];
  /** Time for the whole call, retries included, in milliseconds. @default 300000 */
  readonly timeoutMs?: number;
  /** Monotonic time in milliseconds. @default performance.now */
  readonly now?: () => number;
}

/** A reply, and why it ended. */
export interface GeneratedReply extends Reply {
  /** Null when the call failed. */
  readonly finishReason: FinishReason | null;
}

/** Generates a reply to the prompt alone; a failure is data. */
export async function generateReply(
  prompt: ReplyPrompt,
  { redact, now = () => performance.now(), onDelta, ...options }: ReplyOptions,
): Promise<GeneratedReply> {
  const startedAt = now();
  const elapsedMs = () => Math.round(now() - startedAt);
  const deltas = onDelta && redactDeltas(onDelta, redact);
  try {
    const { text, usage, finishReason } = await askInTurn(prompt, {
      ...options,
      onDelta: deltas?.add,
    });
    await deltas?.end();
    const given = { reply: redact(text), replyError: null, usage: toTokenUsage(usage) };
    return { replyMs: elapsedMs(), ...given, finishReason };
  } catch (error) {
    options.signal.throwIfAborted();
    const replyError = redact(describeReplyFailure(error));
    return { replyMs: elapsedMs(), reply: "", replyError, usage: null, finishReason: null };
  }
}

/** Asks the model, and the fallback where the model is refused before its first word. */
async function askInTurn(
  prompt: ReplyPrompt,
  { model, signal, fallback, settings = {}, timeoutMs = 300_000, onDelta }: AskOptions,
) {
  const call = { prompt, signal, timeoutMs, settings, onDelta };
  try {
    return await askForText({ ...call, model });
  } catch (error) {
    signal.throwIfAborted();
    if (fallback === undefined || !isRefusal(error)) throw error;
    return askForText({ ...call, model: fallback() });
  }
}

type AskOptions = Omit<ReplyOptions, "redact" | "now">;
