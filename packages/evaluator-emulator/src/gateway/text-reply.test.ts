import { expect, test } from "vitest";
import { promptText, replyText } from "./text-reply.ts";

test("says where it comes from and repeats the question", () => {
  expect(replyText("  Why? ")).toBe(
    'This reply comes from the local emulator, not from a language model. You asked: "Why?"',
  );
});

test("shortens a long question, never inside a character", () => {
  expect(replyText("🙂".repeat(300))).toContain(`"${"🙂".repeat(200)}…"`);
});

test("the question is the last user message, its text parts only", () => {
  const prompt = [
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "text", text: "first" }] },
    { role: "assistant", content: [{ type: "text", text: "reply" }] },
    {
      role: "user",
      content: [
        { type: "text", text: "second" },
        { type: "file", data: {} },
      ],
    },
  ];
  expect(promptText(prompt)).toEqual({
    lastUserText: "second",
    toolText: null,
    allText: "Be brief.\nfirst\nreply\nsecond",
  });
});

test.each([[undefined], ["text"], [[]], [[{ role: 1 }]]])("%j is no prompt", (prompt) => {
  expect(promptText(prompt)).toBeNull();
});
