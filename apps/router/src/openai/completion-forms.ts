import type { FinishReason } from "ai";
import type { GeneratedReply, Reply } from "../reply/reply.ts";

/** What every body of one completion repeats. */
export interface CompletionHead {
  readonly id: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly model: string;
}

/** Returns a whole completion in OpenAI's form. */
export function wholeCompletion(head: CompletionHead, reply: GeneratedReply) {
  const message = { role: "assistant", content: reply.reply, refusal: null };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishOf(reply) };
  return { ...head, object: "chat.completion", choices: [choice], usage: usageOf(reply) };
}

/** Returns one piece of a streamed completion. */
export function chunkOf(head: CompletionHead, delta: object, finishReason: string | null = null) {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
  return { ...head, object: "chat.completion.chunk", choices: [choice] };
}

/** Returns the last piece of a stream that was asked for its tokens. */
export function usageChunk(head: CompletionHead, reply: Reply) {
  return { ...head, object: "chat.completion.chunk", choices: [], usage: usageOf(reply) };
}

const finishReasons: Partial<Record<FinishReason, string>> = {
  length: "length",
  "content-filter": "content_filter",
};

/** Returns why a reply ended, in OpenAI's word. */
export function finishOf({ finishReason }: GeneratedReply): string {
  return finishReasons[finishReason ?? "stop"] ?? "stop";
}

function usageOf({ usage }: Reply) {
  const prompt_tokens = usage?.inputTokens ?? 0;
  const completion_tokens = usage?.outputTokens ?? 0;
  const total_tokens = usage?.totalTokens ?? prompt_tokens + completion_tokens;
  return { prompt_tokens, completion_tokens, total_tokens };
}
