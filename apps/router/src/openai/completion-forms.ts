import type { FinishReason } from "ai";
import type { GeneratedReply, Reply, ToolCallDelta } from "../reply/reply.ts";

/** What every body of one completion repeats. */
export interface CompletionHead {
  readonly id: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly model: string;
}

/** Returns a whole completion in OpenAI's form. */
export function wholeCompletion(head: CompletionHead, reply: GeneratedReply) {
  const calls = reply.toolCalls.map(({ id, name, arguments: text }) => ({
    id,
    type: "function",
    function: { name, arguments: text },
  }));
  const content = reply.reply === "" && calls.length > 0 ? null : reply.reply;
  const called = calls.length === 0 ? {} : { tool_calls: calls };
  const message = { role: "assistant", content, refusal: null, ...called };
  const choice = { index: 0, message, logprobs: null, finish_reason: finishOf(reply) };
  return { ...head, object: "chat.completion", choices: [choice], usage: usageOf(reply) };
}

/** Returns one piece of a streamed completion. */
export function chunkOf(head: CompletionHead, delta: object, finishReason: string | null = null) {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
  return { ...head, object: "chat.completion.chunk", choices: [choice] };
}

/** Returns pieces of tool calls as one delta of a streamed completion. */
export function toolCallsDelta(deltas: readonly ToolCallDelta[]) {
  const tool_calls = deltas.map(({ index, id, name, arguments: text }) => ({
    index,
    ...(id !== undefined && { id, type: "function" }),
    function: { ...(name !== undefined && { name }), arguments: text },
  }));
  return { tool_calls };
}

/** Returns the last piece of a stream that was asked for its tokens. */
export function usageChunk(head: CompletionHead, reply: Reply) {
  return { ...head, object: "chat.completion.chunk", choices: [], usage: usageOf(reply) };
}

const finishReasons: Partial<Record<FinishReason, string>> = {
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
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
