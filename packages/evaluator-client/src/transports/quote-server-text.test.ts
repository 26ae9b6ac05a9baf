import { expect, test } from "vitest";
import { quoteServerText } from "./status-failure.ts";

const none = {
  apiKey: "planted-secret-key",
  state: { note: "the quick brown fox jumps over the dog" },
};

test.each<[string, unknown, string | null]>([
  ["words", "Model not found.", '"Model not found."'],
  ["several lines with escapes", "a\r\n\u001b[31mb", '"a [31mb"'],
  ["no text", { message: "x" }, null],
  ["blank text", "  ", null],
  ["the key", "Invalid key planted-secret-key", null],
  ["a part of the key", "Invalid key planted-s…", null],
  ["a value of the state", `bad input: ${none.state.note}`, null],
  ["a long run of the state", "bad input: quick brown fox jumps over…", null],
])("quotes %s as it may", (_, text, expected) => {
  expect(quoteServerText(text, none)).toBe(expected);
});

test("cuts long text", () => {
  expect(quoteServerText("word ".repeat(200), none)).toHaveLength(303);
});

test("looks into nested states and long keys", () => {
  const state = { a: [{ "someone@example.com": { b: "deep value" } }] };
  expect(quoteServerText("bad: deep value", { apiKey: null, state })).toBeNull();
  expect(quoteServerText("bad: someone@example.com", { apiKey: null, state })).toBeNull();
  expect(quoteServerText("bad", { apiKey: null, state })).toBe('"bad"');
});
