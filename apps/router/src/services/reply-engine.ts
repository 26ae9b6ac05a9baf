import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createGateway } from "ai";
import { createCatalog } from "evaluator-client";
import { openAiEvents, replyFetch } from "../reply/reply-fetch.ts";
import type { OpenAiCompatibleServer, ReplyEngine, ReplyServer } from "./services.ts";

/** Returns a server as who replies. */
export function connectReplies(server: ReplyServer): ReplyEngine {
  if (server.kind === "openai-compatible") return openAiCompatibleReplies(server);
  const { apiKey, baseUrl, env } = server;
  const address = baseUrl === undefined ? {} : { baseURL: baseUrl };
  return {
    languageModel(modelId, listener) {
      const fetch = replyFetch(fetchWithoutRedirects, { listener });
      return createGateway({ apiKey, ...address, fetch })(modelId);
    },
    catalog: createCatalog({ env, maxRetries: 0, deadlineMs: 5000 }),
    replier: `the gateway${baseUrl === undefined ? "" : ` at ${baseUrl}`}`,
  };
}

function openAiCompatibleReplies({ baseUrl, apiKey }: OpenAiCompatibleServer): ReplyEngine {
  return {
    languageModel(modelId, listener) {
      const fetch = replyFetch(fetchWithoutRedirects, { listener, readEvent: openAiEvents });
      const key = apiKey === null ? {} : { apiKey };
      const options = { name: "reply-server", baseURL: baseUrl, ...key, includeUsage: true, fetch };
      return createOpenAICompatible(options)(modelId);
    },
    catalog: null,
    replier: `the models at ${baseUrl}`,
  };
}

/** Another origin never sees the message: a redirect is an answer, and so a failure. */
const fetchWithoutRedirects: typeof fetch = (input, init) =>
  fetch(input, { ...init, redirect: "manual" });
