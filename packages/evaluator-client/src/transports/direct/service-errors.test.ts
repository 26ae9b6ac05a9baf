import { expect, test } from "vitest";
import { askService } from "../../testing/ask-service.ts";
import type { ServiceName } from "./services.ts";

test.each<[ServiceName, number, unknown, object, string]>([
  [
    "openai",
    429,
    {
      error: {
        message: "You exceeded your current quota.",
        type: "insufficient_quota",
        code: "insufficient_quota",
      },
    },
    { name: "RateLimitError", isRetryable: false, needsPaidCredits: true },
    "waiting does not help",
  ],
  [
    "openai",
    429,
    { error: { message: "Slow down.", type: "requests", code: "rate_limit_exceeded" } },
    { isRetryable: true },
    "OpenAI answered 429 (requests)",
  ],
  [
    "openai",
    401,
    { error: { message: "Wrong.", type: "invalid_request_error", code: "invalid_api_key" } },
    { name: "AuthenticationError" },
    "Check the key",
  ],
  [
    "gemini",
    429,
    {
      error: {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        message: "You exceeded your current quota.",
        details: [
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" },
          { "@type": "type.googleapis.com/google.rpc.QuotaFailure" },
        ],
      },
    },
    { isRetryable: true, retryAfterMs: 34_500 },
    "Google answered 429 (RESOURCE_EXHAUSTED)",
  ],
  [
    "gemini",
    429,
    {
      error: {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        message: "quota",
        details: [{ "@type": "type.googleapis.com/google.rpc.QuotaFailure" }],
      },
    },
    { isRetryable: false },
    "waiting does not help",
  ],
  [
    "gemini",
    400,
    {
      error: {
        code: 400,
        status: "INVALID_ARGUMENT",
        message: "No.",
        details: [
          { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" },
        ],
      },
    },
    { name: "AuthenticationError" },
    "Google answered 400",
  ],
  [
    "openrouter",
    429,
    { error: { code: 429, message: "Slow.", metadata: { retry_after_seconds: 7 } } },
    { isRetryable: true, retryAfterMs: 7000, type: null },
    "OpenRouter answered 429: ",
  ],
  [
    "openrouter",
    402,
    { error: { code: 402, message: "No credit." } },
    { isRetryable: false, needsPaidCredits: true },
    "Add credits",
  ],
  [
    "openrouter",
    404,
    { error: { code: 404, message: "No endpoints found matching your data policy." } },
    { isRetryable: false },
    "privacy settings",
  ],
  [
    "openrouter",
    200,
    { error: { code: 502, message: "Upstream." } },
    { status: 502, isRetryable: true },
    "OpenRouter answered 502",
  ],
  ["openrouter", 524, {}, { isRetryable: true }, "OpenRouter answered 524"],
  [
    "openrouter",
    529,
    { error: { code: 529, message: "Busy." } },
    { name: "RateLimitError", isRetryable: true },
    "529",
  ],
  [
    "cloudflare",
    200,
    { success: false, errors: [{ code: 5006, message: "Bad input." }], result: null },
    { status: 400, isRetryable: false, type: "5006" },
    "Bad input.",
  ],
  [
    "cloudflare",
    200,
    { success: false, errors: [{ code: { toString: 1 }, message: "Odd." }] },
    { status: 400, type: null },
    "Odd.",
  ],
  [
    "cloudflare",
    200,
    { success: false, errors: [{ code: 3040, message: "Capacity." }] },
    { status: 429, isRetryable: true },
    "Capacity.",
  ],
  [
    "cloudflare",
    429,
    { success: false, errors: [{ code: 4006, message: "Used up." }] },
    { isRetryable: false, needsPaidCredits: true },
    "waiting does not help",
  ],
  [
    "cloudflare",
    429,
    { success: false, errors: [{ code: 3036, message: "Used up." }] },
    { isRetryable: false },
    "waiting does not help",
  ],
  [
    "cloudflare",
    500,
    { success: false, errors: [{ code: 5012, message: "Failed." }] },
    { isRetryable: true },
    "500 (5012)",
  ],
  [
    "cloudflare",
    422,
    {
      success: false,
      errors: [{ code: 5006, message: '{"errors":[{"code":8001,"message":"Inner."}]}' }],
    },
    { type: "8001" },
    "Inner.",
  ],
  [
    "perplexity",
    504,
    "<html>Gateway Time-out</html>",
    { isRetryable: true, type: null },
    "Perplexity answered 504.",
  ],
  [
    "perplexity",
    400,
    {
      error: {
        message: "Input length (300000) exceeds model's maximum context length (262144)",
        type: "invalid_request_error",
      },
    },
    { isRetryable: false },
    "262144",
  ],
  [
    "fireworks",
    422,
    { detail: [{ loc: ["body", "model"], msg: "Missing", input: "x" }] },
    {},
    "body.model: Missing",
  ],
  ["fireworks", 413, {}, { isRetryable: false }, "Send a smaller state."],
  ["typesafe", 503, {}, { isRetryable: true }, "TypeSafe answered 503"],
])("%s: %d %j", async (service, status, body, fields, words) => {
  const { error } = await askService(service, { status, body });
  expect(error).toMatchObject({ status, ...fields });
  expect(error?.message).toContain(words);
  expect(error?.message).not.toContain("a-secret-key");
});
