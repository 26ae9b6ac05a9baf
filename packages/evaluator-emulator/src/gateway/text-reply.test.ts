import { expect, test } from "vitest";
import { composeReply } from "./text-reply.ts";

function replyTo(prompt: unknown) {
  const shape = { tools: [], toolChoice: "auto", isParallel: true, json: null } as const;
  return composeReply({ prompt, shape, nextId: () => "1" });
}

test("names its origin and repeats the question", () => {
  expect(replyTo([{ role: "user", content: "  Why? " }])?.text).toBe(
    'This reply comes from the local emulator, not from a language model. You asked: "Why?"',
  );
});

test("shortens a long question, never inside a character", () => {
  const { text } = replyTo([{ role: "user", content: "🙂".repeat(300) }]) ?? {};
  expect(text).toContain(`"${"🙂".repeat(200)}…"`);
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
  expect(replyTo(prompt)).toMatchObject({
    text: expect.stringMatching(/You asked: "second"$/),
    // All text of the prompt, four bytes each.
    inputTokens: Math.ceil("Be brief.\nfirst\nreply\nsecond".length / 4),
  });
});

test.each([[undefined], ["text"], [[]], [[{ role: 1 }]]])("%j is no prompt", (prompt) => {
  expect(replyTo(prompt)).toBeNull();
});
