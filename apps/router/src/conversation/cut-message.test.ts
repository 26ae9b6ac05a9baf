import { expect, test } from "vitest";
import { cutMessage } from "./user-turns.ts";

/** Of the contract, section 8. */
const MAX_MESSAGE_LENGTH = 20_000;

test("a message of 20,000 characters stays whole", () => {
  const message = "a".repeat(20_000);
  expect(cutMessage(message)).toBe(message);
});

test("a longer message is cut to 20,000 characters", () => {
  expect(cutMessage("a".repeat(20_001))).toHaveLength(20_000);
});

test("a surrogate pair on the limit is one character, and is kept whole", () => {
  const message = `${"a".repeat(MAX_MESSAGE_LENGTH - 1)}😀`;
  expect(cutMessage(message)).toBe(message);
  expect(cutMessage(`${message}b`)).toBe(message);
  expect(cutMessage(`${message}😀`)).toBe(message);
});

test("a surrogate pair behind the limit is left out whole", () => {
  const before = "a".repeat(MAX_MESSAGE_LENGTH);
  expect(cutMessage(`${before}😀`)).toBe(before);
});

test.each([
  [15_000, 15_000],
  [20_000, 20_000],
  [30_000, 20_000],
])("of %d emoji %d are read", (given, read) => {
  expect(cutMessage("😀".repeat(given))).toBe("😀".repeat(read));
});

test("what a reader sees as one character is not split", () => {
  const before = "a".repeat(MAX_MESSAGE_LENGTH - 1);
  expect(cutMessage(`${before}e\u0301`)).toBe(before);
});

test("a lone surrogate on the limit is the message's own and is kept", () => {
  const message = `${"a".repeat(MAX_MESSAGE_LENGTH - 1)}\uD83D`;
  expect(cutMessage(`${message}b`)).toBe(message);
});
