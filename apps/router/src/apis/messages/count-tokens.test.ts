import { expect, test } from "vitest";
import { estimateInput } from "../../reply/billed-tokens.ts";
import { readMessagesRequest } from "./messages-request.ts";

function count(content: unknown, fields: object = {}, role = "user"): number {
  const body = { model: "claude-x", messages: [{ role, content }], ...fields };
  return estimateInput(readMessagesRequest({ max_tokens: 1, ...body }).conversation);
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
  ["text", count(words), 800],
  ["system text", count("", { system: words }), 800],
  ["a tool with its schema", count("", { tools: [{ name: "f", input_schema }] }), 800],
  ["a call", count([call], {}, "assistant"), 800],
  ["a result", count(result(words)), 800],
  ["an image, whatever its size", count([image]), 1600],
  ["an image of a result", count(result([image])), 1600],
];

test.each(rows)("%s is counted", (_name, tokens, expected) => {
  expect(tokens - bare).toBeGreaterThanOrEqual(expected);
  expect(tokens - bare).toBeLessThan(expected + 40);
});
