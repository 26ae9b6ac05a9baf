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

// The counts of o200k, as in the table of the client's estimate.
test.each([
  [
    "JSON",
    '[{"id":"t-1001","from":"ada@example.com","subject":"Refund","amount":129.95,"paid":true,"tags":["billing","urgent"]},{"id":"t-1002","from":"bob@example.org","subject":"Login fails","amount":0,"paid":false,"tags":["access"]}]',
    67,
  ],
  [
    "logs",
    "2026-11-21T10:32:11.482Z INFO  [http] GET /v1/key 200 12.4ms req=7f3a9c21 bytes=1842\n2026-11-21T10:32:11.913Z WARN  [pool] connection 10.0.3.17:5432 slow: 842ms (limit 500ms)\n2026-11-21T10:32:12.004Z ERROR [worker-3] job 9918273 failed after 3 attempts: ETIMEDOUT\n",
    126,
  ],
  [
    "code",
    "export async function readAll<TRecord>(source: AsyncIterable<TRecord>, { limit = 100 }: ReadOptions = {}) {\n  const records: TRecord[] = [];\n  for await (const record of source) {\n    if (records.length >= limit) break;\n    records.push(record);\n  }\n  return records;\n}\n",
    67,
  ],
])("the count of %s is within 25 %% of a tokenizer's", (_name, text, tokens) => {
  const counted = count([{ type: "text", text }]) - bare;
  expect(Math.abs(counted - tokens) / tokens).toBeLessThan(0.25);
});
