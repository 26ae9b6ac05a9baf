import type { Api } from "../api.ts";
import { openAiClientModels, openAiError, readOpenAiUsage } from "../openai-form.ts";
import { toObject } from "../parse-body.ts";
import { ChatReply } from "./chat-reply.ts";
import { readChatRequest } from "./chat-request.ts";

/** OpenAI's chat completions API. */
export const chatApi: Api = {
  name: "openai",
  upstreamType: "openai-chat",
  path: "/v1/chat/completions",
  clientModels: openAiClientModels,
  read: readChatRequest,
  write: (head, request) => new ChatReply(head, request),
  usageOf: (event) => readOpenAiUsage(toObject(event)["usage"]),
  error: openAiError,
};
