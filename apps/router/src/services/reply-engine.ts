import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createGateway } from "ai";
import { createCatalog } from "evaluator-client";
import type { Emulator } from "evaluator-emulator";
import { openAiEvents, replyFetch } from "../reply/reply-fetch.ts";
import type { OpenAiCompatibleServer, ReplyEngine, ReplyServer } from "./services.ts";

/** Who replies, and how a person is told so. */
interface NamedReplies extends ReplyEngine {
  readonly replier: string;
}

/** Returns a server as who replies. */
export function connectReplies(server: ReplyServer): NamedReplies {
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

function openAiCompatibleReplies({ baseUrl, apiKey }: OpenAiCompatibleServer): NamedReplies {
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

/** Returns the emulator as who replies. */
export function emulatedReplies(emulator: Emulator): NamedReplies {
  const baseUrl = "http://emulator.invalid/v4/ai"; // never resolves, should a request slip past
  const fetch: typeof globalThis.fetch = (input, init) => emulator.fetch(input, init);
  return {
    languageModel(modelId, listener) {
      const options = { apiKey: "local", baseURL: baseUrl, fetch: replyFetch(fetch, { listener }) };
      return createGateway(options)(modelId);
    },
    catalog: createCatalog({ baseUrl, fetch, env: {} }),
    replier: "the local emulator",
  };
}
