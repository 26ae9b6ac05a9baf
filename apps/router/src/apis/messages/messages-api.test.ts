import { expect, test } from "vitest";
import { messagesApi } from "./messages-api.ts";
import { usageIn } from "../../testing/usage-in.ts";

const usage = {
  input_tokens: 5,
  cache_read_input_tokens: 90,
  cache_creation_input_tokens: 4,
  output_tokens: 30,
  output_tokens_details: { thinking_tokens: 20 },
};
const read = { input: 5, cacheRead: 90, cacheWrite: 4, output: 30, reasoning: 20 };
const unknown = { input: null, cacheRead: null, cacheWrite: null, reasoning: null };

const events: [name: string, event: unknown, expected: unknown][] = [
  ["a whole body", { type: "message", content: [], usage }, read],
  ["message_start", { type: "message_start", message: { content: [], usage } }, read],
  ["message_delta", { type: "message_delta", delta: {}, usage }, read],
  ["a few counts", { usage: { output_tokens: 9 } }, { ...unknown, output: 9 }],
  ["wrong counts", { usage: { input_tokens: "5", output_tokens: -1 } }, null],
  ["no usage", { type: "content_block_delta", index: 0 }, null],
  ["no object", "message", null],
  ["nothing", null, null],
];

test.each(events)("the tokens of %s are read", (_name, event, expected) => {
  expect(usageIn(event)).toEqual(expected);
});

const errors: [status: number, type: string][] = [
  [400, "invalid_request_error"],
  [401, "authentication_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [413, "request_too_large"],
  [415, "invalid_request_error"],
  [429, "rate_limit_error"],
  [500, "api_error"],
  [502, "api_error"],
  [503, "overloaded_error"],
  [504, "api_error"],
  [529, "overloaded_error"],
];

test.each(errors)("the status %s is the error %s", (status, type) => {
  const error = { type, message: "No." };
  expect(messagesApi.error("No.", status, { param: "a" })).toEqual({ type: "error", error });
});

test("a refused thread has the code after which a client sends whole conversations", () => {
  expect(messagesApi.error("No.", 400, { param: "thread" })).toEqual({
    type: "error",
    error: {
      type: "invalid_request_error",
      message: "No.",
      details: { error_code: "thread_unsupported_request" },
    },
  });
});

test("a client's own models begin with claude-", () => {
  const own = ["claude-opus-4-5", "claude", "anthropic/claude-opus-4-5", "my-claude-x"];
  expect(own.map((name) => messagesApi.clientModels.test(name))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
