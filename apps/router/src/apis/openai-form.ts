import { toCount, type TokenUsage } from "../reply/usage.ts";
import type { ErrorDetails } from "./api.ts";
import { toObject } from "./parse-body.ts";

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
  const all = toObject(usage);
  const input = toCount(all["prompt_tokens"] ?? all["input_tokens"]);
  const output = toCount(all["completion_tokens"] ?? all["output_tokens"]);
  if (input === null && output === null) return null;
  const { cached_tokens, cache_write_tokens } = toObject(
    all["prompt_tokens_details"] ?? all["input_tokens_details"],
  );
  const { reasoning_tokens } = toObject(
    all["completion_tokens_details"] ?? all["output_tokens_details"],
  );
  const [cacheRead, cacheWrite] = [toCount(cached_tokens), toCount(cache_write_tokens)];
  const uncached = input && Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0));
  return { input: uncached, cacheRead, cacheWrite, output, reasoning: toCount(reasoning_tokens) };
}

/** Returns counts under the names of an API of OpenAI. OpenRouter has `cache_write_tokens` too. */
export function toOpenAiUsage(
  { input, cacheRead, cacheWrite, output, reasoning }: TokenUsage,
  inputName: "prompt" | "input",
  outputName: "completion" | "output",
) {
  const [cached_tokens, cache_write_tokens] = [cacheRead ?? 0, cacheWrite ?? 0];
  const [read, written] = [(input ?? 0) + cached_tokens + cache_write_tokens, output ?? 0];
  return {
    [`${inputName}_tokens`]: read,
    [`${inputName}_tokens_details`]: { cached_tokens, cache_write_tokens },
    [`${outputName}_tokens`]: written,
    [`${outputName}_tokens_details`]: { reasoning_tokens: reasoning ?? 0 },
    total_tokens: read + written,
  };
}
