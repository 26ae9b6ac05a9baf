import { toCount, type TokenUsage } from "../../reply/usage.ts";
import type { Api } from "../api.ts";
import { toObject } from "../parse-body.ts";
import { messagesError, MessagesReply } from "./messages-reply.ts";
import { readMessagesRequest } from "./messages-request.ts";

/** Anthropic's Messages API, as Claude Code, `@anthropic-ai/sdk` and `@ai-sdk/anthropic` speak it. */
export const messagesApi: Api = {
  name: "messages",
  upstreamType: "anthropic",
  path: "/v1/messages",
  clientModels: /^claude-/,
  read: readMessagesRequest,
  write: (head) => new MessagesReply(head),
  usageOf: readMessagesUsage,
  error: messagesError,
};

/** Reads a body, `message_start` or `message_delta`. */
function readMessagesUsage(event: unknown): TokenUsage | null {
  const { message, usage: own } = toObject(event);
  const usage = toObject(own ?? toObject(message)["usage"]);
  const counts = {
    input: toCount(usage["input_tokens"]),
    cacheRead: toCount(usage["cache_read_input_tokens"]),
    cacheWrite: toCount(usage["cache_creation_input_tokens"]),
    output: toCount(usage["output_tokens"]),
    reasoning: toCount(toObject(usage["output_tokens_details"])["thinking_tokens"]),
  };
  return Object.values(counts).every((count) => count === null) ? null : counts;
}
