import type { Api } from "../api.ts";
import { openAiClientModels, openAiError, readOpenAiUsage } from "../openai-form.ts";
import { toObject } from "../parse-body.ts";
import { ResponsesReply } from "./responses-reply.ts";
import { readResponsesRequest } from "./responses-request.ts";

/** OpenAI's Responses API, as Codex, the `openai` package and `@ai-sdk/openai` speak it. */
export const responsesApi: Api = {
  name: "responses",
  upstreamType: "openai-responses",
  path: "/v1/responses",
  clientModels: openAiClientModels,
  read: readResponsesRequest,
  write: (head, request) => new ResponsesReply(head, request),
  usageOf(event) {
    const { response, usage } = toObject(event);
    return readOpenAiUsage(usage ?? toObject(response)["usage"]);
  },
  error: openAiError,
};
