import { expect, test } from "vitest";
import { toMail, toSnippet } from "./to-mail.ts";

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

test("a record has no more of a long header or text than is read", () => {
  const arrived = { day: "2026-03-02", basis: "file" } as const;
  const text = `${" ".repeat(2000)}beyond`;
  const long = "x".repeat(5000);
  const extra = { attachments: [], listId: "", authenticationResults: "" };
  const mail = { id: "1", date: null, from: long, subject: long, text, labels: null, extra };
  const source = { file: "a.mbox", offset: 7 };
  expect(toMail(mail, { arrived, source })).toEqual({
    id: "1",
    date: "2026-03-02",
    from: "x".repeat(1000),
    subject: "x".repeat(1000),
    snippet: "",
    source,
  });
});
