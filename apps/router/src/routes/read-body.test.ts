import { expect, test } from "vitest";
import { cutMessage, MAX_MESSAGE_LENGTH } from "./read-body.ts";

test("a message of 20,000 code units stays whole", () => {
  const message = "a".repeat(20_000);
  expect(cutMessage(message)).toBe(message);
});

test("a longer message is cut to 20,000 code units", () => {
  expect(cutMessage("a".repeat(20_001))).toHaveLength(20_000);
});

test("a surrogate pair on the limit is left out whole", () => {
  const before = "a".repeat(MAX_MESSAGE_LENGTH - 1);
  expect(cutMessage(`${before}😀`)).toBe(before);
});

test("a surrogate pair that ends on the limit is kept", () => {
  const message = `${"a".repeat(MAX_MESSAGE_LENGTH - 2)}😀`;
  expect(cutMessage(`${message}b`)).toBe(message);
});

test("a lone surrogate on the limit is the message's own and is kept", () => {
  const message = `${"a".repeat(MAX_MESSAGE_LENGTH - 1)}\uD83D`;
  expect(cutMessage(`${message}b`)).toBe(message);
});
