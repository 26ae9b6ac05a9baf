import { expect, test } from "vitest";
import { openAiClientModels, openAiError } from "./openai-form.ts";
import { usageIn } from "../testing/usage-in.ts";

test.each([
  ["gpt-5.2-codex", true],
  ["o3", true],
  ["o4-mini", true],
  ["codex-mini-latest", true],
  ["chatgpt-4o-latest", true],
  ["openai/gpt-5", false],
  ["o2", false],
  ["claude-opus-4", false],
])("%s is a name of OpenAI's clients: %s", (model, isOwn) => {
  expect(openAiClientModels.test(model)).toBe(isOwn);
});

test("an error has OpenAI's type for its status", () => {
  expect(openAiError("no", 429)).toEqual({
    error: { message: "no", type: "rate_limit_error", param: null, code: null },
  });
  expect(openAiError("no", 404, { param: "model", code: "c" }).error).toMatchObject({
    type: "invalid_request_error",
    param: "model",
    code: "c",
  });
  expect(openAiError("no", 502).error.type).toBe("api_error");
});

const counts = { input: 5000, cacheRead: 95_000, cacheWrite: null, output: 30, reasoning: 20 };

test.each([
  [
    "chat completions",
    {
      prompt_tokens: 100_000,
      prompt_tokens_details: { cached_tokens: 95_000 },
      completion_tokens: 30,
      completion_tokens_details: { reasoning_tokens: 20 },
    },
    counts,
  ],
  [
    "responses",
    {
      input_tokens: 100_000,
      input_tokens_details: { cached_tokens: 95_000 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 20 },
    },
    counts,
  ],
  [
    "writes to the cache",
    {
      prompt_tokens: 10,
      prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 3 },
      completion_tokens: 1,
    },
    { input: 5, cacheRead: 2, cacheWrite: 3, output: 1, reasoning: null },
  ],
  [
    "no details",
    { prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: null },
    { input: 10, cacheRead: null, cacheWrite: null, output: 1, reasoning: null },
  ],
  ["wrong types", { prompt_tokens: "10", completion_tokens: -1 }, null],
  ["no usage", null, null],
])("usage of %s counts cached tokens apart", (_form, usage, expected) => {
  expect(usageIn({ usage })).toEqual(expected);
});
