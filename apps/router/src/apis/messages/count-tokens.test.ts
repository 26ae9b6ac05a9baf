import { expect, test } from "vitest";
import { countTokens } from "../api-route.ts";
import { readMessagesRequest } from "./messages-request.ts";

function count(content: unknown, fields: object = {}, role = "user"): number {
  const body = { model: "claude-x", messages: [{ role, content }], ...fields };
  return countTokens(readMessagesRequest({ max_tokens: 1, ...body }).conversation);
}

const words = "word ".repeat(800);
const bare = count("");
const image = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: "A".repeat(90_000) },
};
const result = (content: unknown) => [{ type: "tool_result", tool_use_id: "1", content }];
const input_schema = { type: "object", description: words };
const call = { type: "tool_use", id: "1", name: "f", input: { words } };

const rows: [name: string, tokens: number, expected: number][] = [
  ["text", count(words), 1000],
  ["system text", count("", { system: words }), 1000],
  ["a tool with its schema", count("", { tools: [{ name: "f", input_schema }] }), 1000],
  ["a call", count([call], {}, "assistant"), 1000],
  ["a result", count(result(words)), 1000],
  ["an image, whatever its size", count([image]), 1600],
  ["an image of a result", count(result([image])), 1600],
];

test.each(rows)("%s is counted", (_name, tokens, expected) => {
  expect(tokens - bare).toBeGreaterThanOrEqual(expected);
  expect(tokens - bare).toBeLessThan(expected + 30);
});
