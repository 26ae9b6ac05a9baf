import type { HonoRequest } from "hono";
import type { Api } from "./api.ts";
import { chatApi } from "./chat/chat-api.ts";
import { messagesApi } from "./messages/messages-api.ts";
import { responsesApi } from "./responses/responses-api.ts";

const table = { chat: chatApi, responses: responsesApi, messages: messagesApi };

/** The short name of an API, for tables that have a row for each. */
export type ApiName = keyof typeof table;

/** The APIs that clients speak. */
export const apis: readonly Api[] = Object.values(table satisfies Readonly<Record<string, Api>>);

/** Returns the API whose client sends a request for the model list; OpenAI's if no header names one. */
export function apiOfClient(request: HonoRequest): Api {
  const isSent = ({ ownHeader }: Api) =>
    ownHeader !== null && request.header(ownHeader) !== undefined;
  return apis.find(isSent) ?? chatApi;
}
