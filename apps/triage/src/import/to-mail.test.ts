import { expect, test } from "vitest";
import { toSnippet } from "./to-mail.ts";

test.each([
  ["Card 4111 1111 1111 1111 was charged.", "Card was charged."],
  ["Card **** **** **** 1234 was charged.", "Card was charged."],
  ["Your card ending in 1234 was charged.", "Your card ending in was charged."],
  ["Order #123-4567890-1234567 has shipped.", "Order # has shipped."],
  ["Order number: AB12345 has shipped.", "Order number: has shipped."],
  [
    "In 2026 we order 12 eggs, call +49 30 1234567.",
    "In 2026 we order 12 eggs, call +49 30 1234567.",
  ],
  ["Order confirmation for you", "Order confirmation for you"],
])("cuts fragments of numbers: %j", (text, snippet) => {
  expect(toSnippet(text)).toBe(snippet);
});
