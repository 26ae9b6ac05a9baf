import { toCount, type TokenUsage } from "../reply/usage.ts";
import type { ErrorDetails } from "./api.ts";
import { isObject, toObject } from "./parse-body.ts";

/** The model names of OpenAI's own clients. */
export const openAiClientModels = /^(?:gpt-|o[134]|codex-|chatgpt-)/;

const errorTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

/** Returns a failure in OpenAI's form. */
export function openAiError(message: string, status: number, details: ErrorDetails = {}) {
  const { param = null, code = null } = details;
  const type = errorTypes[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return { error: { message, type, param, code } };
}

/** Reads the `usage` of either API of OpenAI, whose counts of input include the cached tokens; null if it is none. */
export function readOpenAiUsage(usage: unknown): TokenUsage | null {
  if (!isObject(usage)) return null;
  const input = toCount(usage["prompt_tokens"] ?? usage["input_tokens"]);
  const output = toCount(usage["completion_tokens"] ?? usage["output_tokens"]);
  if (input === null && output === null) return null;
  const inputDetails = toObject(usage["prompt_tokens_details"] ?? usage["input_tokens_details"]);
  const outputDetails = toObject(
    usage["completion_tokens_details"] ?? usage["output_tokens_details"],
  );
  const cacheRead = toCount(inputDetails["cached_tokens"]);
  const cacheWrite = toCount(inputDetails["cache_write_tokens"]); // OpenRouter's own
  const uncached = (input ?? 0) - (cacheRead ?? 0) - (cacheWrite ?? 0);
  return {
    input: input === null ? null : Math.max(0, uncached),
    cacheRead,
    cacheWrite,
    output,
    reasoning: toCount(outputDetails["reasoning_tokens"]),
  };
}
