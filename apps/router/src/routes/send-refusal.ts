import type { Context } from "hono";
import { openAiError } from "../openai/openai-error.ts";
import type { Refusal } from "./refusal.ts";

/** Answers with a refusal, in the form that clients of this address read: OpenAI's, or `{ error }`. */
export function sendRefusal(c: Context, refusal: Refusal): Response {
  const { status, message, details } = refusal;
  const isOpenAi = c.req.path.startsWith("/v1/");
  const body = isOpenAi ? openAiError(message, refusal) : { error: message };
  return c.json(body, status, details.headers);
}
