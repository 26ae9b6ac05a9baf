import type { Context } from "hono";
import type { HttpError } from "../http-error.ts";
import type { Api } from "./api.ts";
import { chatApi } from "./chat/chat-api.ts";
import { messagesApi } from "./messages/messages-api.ts";
import { responsesApi } from "./responses/responses-api.ts";

/** The APIs that clients speak. */
export const apis: readonly Api[] = [chatApi, responsesApi, messagesApi];

const version = "/v1";

/** Returns the body of an error in the form of the client's API. */
export function toErrorBody({ req }: Context, { message, status, details }: HttpError): object {
  const { path } = req;
  if (!path.startsWith(`${version}/`) && rightPath(path) === null) return { error: message };
  const isModels = path.startsWith(`${version}/models`);
  const isMessages = isModels
    ? req.header("anthropic-version") !== undefined
    : (rightPath(path) ?? path).startsWith(messagesApi.path);
  return (isMessages ? messagesApi : chatApi).error(message, status, details);
}

/** Describes an unknown path of the APIs, which often is a wrong base URL; null for another path. */
export function describeApiPath(path: string): string | null {
  const right = rightPath(path);
  if (right !== null)
    return `There is nothing at this address; use ${right}: the base URL decides.`;
  if (!path.startsWith(`${version}/`)) return null;
  const paths = apis.map((api) => `POST ${api.path}`);
  return `There is no such path in this API; use GET /v1/models, ${paths.join(", ")}.`;
}

/** Returns the address that a path with too few or too many versions means. */
function rightPath(path: string): string | null {
  const meant = version + path.replace(/^(?:\/v1)+/, "");
  const known = [...apis.map((api) => api.path), `${messagesApi.path}/count_tokens`, "/v1/models"];
  return meant !== path && known.includes(meant) ? meant : null;
}
