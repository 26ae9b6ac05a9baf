import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createGateway } from "ai";
import { createCatalog } from "evaluator-client";
import { openAiEvents } from "../reply/reply-events.ts";
import { replyFetch } from "../reply/reply-fetch.ts";
import type { OpenAiCompatibleServer, ReplyEngine, ReplyServer } from "./services.ts";

/** Returns a server as who replies. */
export function connectReplies(server: ReplyServer): ReplyEngine {
  if (server.kind === "openai-compatible") return openAiCompatibleReplies(server);
  const { apiKey, baseUrl, env } = server;
  const address = baseUrl === undefined ? {} : { baseURL: baseUrl };
  return {
    takesOpenAi: false,
    languageModel(modelId, { listener } = {}) {
      const fetch = replyFetch(fetchWithoutRedirects, { listener });
      return createGateway({ apiKey, ...address, fetch })(modelId);
    },
    catalog: createCatalog({ env, maxRetries: 0, deadlineMs: 5000 }),
    replier: `the gateway${baseUrl === undefined ? "" : ` at ${baseUrl}`}`,
  };
}

function openAiCompatibleReplies({ baseUrl, apiKey }: OpenAiCompatibleServer): ReplyEngine {
  return {
    takesOpenAi: true,
    languageModel(modelId, { listener, body } = {}) {
      const fetch = replyFetch(fetchWithoutRedirects, { listener, readEvent: openAiEvents });
      return createOpenAICompatible({
        name: "reply-server",
        baseURL: baseUrl,
        ...(apiKey !== null && { apiKey }),
        includeUsage: true,
        fetch,
        supportedUrls: anyUrl,
        ...(body !== undefined && { transformRequestBody: (own) => asItCame(body, own) }),
      })(modelId);
    },
    catalog: null,
    replier: `the models at ${baseUrl}`,
  };
}

/** Addresses go to the model's server as they are: the router fetches nothing for a client. */
const anyUrl = () => ({ "*/*": [/.*/] });

/** What the server is asked is what the client sent; only model and stream are the router's. */
function asItCame(body: Record<string, unknown>, own: Record<string, unknown>) {
  const { stream: _, stream_options: __, ...rest } = body;
  const { model, stream, stream_options } = own;
  return { ...rest, model, ...(stream === true && { stream, stream_options }) };
}

/** Another origin never sees the message: a redirect is an answer, and so a failure. */
const fetchWithoutRedirects: typeof fetch = (input, init) =>
  fetch(input, { ...init, redirect: "manual" });
