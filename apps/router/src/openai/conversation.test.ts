import { expect, test } from "vitest";
import type { ChatCompletionMessage } from "./chat-completion-request.ts";
import { createConversationReader } from "./conversation.ts";

const user = (content: string): ChatCompletionMessage => ({ role: "user", content });
const assistant = (content: string): ChatCompletionMessage => ({ role: "assistant", content });
const talk = [user("Write a payroll system"), assistant("Shall I?"), user("yes do it")];

test("last reads the last user message alone", () => {
  expect(createConversationReader("last")(talk)).toMatchObject({
    state: { user_message: "yes do it" },
    atLeast: null,
  });
});

test("turns reads what was said before as well, the newest whole and the oldest cut", () => {
  const read = createConversationReader("turns");
  expect(read(talk).state).toEqual({
    user_message: "yes do it",
    earlier_turns: "user: Write a payroll system\nassistant: Shall I?",
  });
  const [, ...rest] = talk;
  const long = read([{ role: "system", content: "no" }, user("x".repeat(9000)), ...rest]).state;
  expect(long.earlier_turns).toHaveLength(2000);
  expect(long.earlier_turns).toMatch(/^user: x+\nassistant: Shall I\?$/);
  expect(read([user("hi")]).state).toEqual({ user_message: "hi" });
});

test("sticky remembers a conversation's tier by what its user said, and no other's", () => {
  const read = createConversationReader("sticky");
  read(talk.slice(0, 1)).keep("frontier");
  expect(read(talk).atLeast).toBe("frontier");
  expect(read([user("Write a poem"), ...talk.slice(1)]).atLeast).toBeNull();
  expect(read([user("hi")]).atLeast).toBeNull();
  read(talk).keep("nano");
  expect(read(talk).atLeast).toBe("frontier");
});

test("sticky forgets the conversation asked about longest ago", () => {
  const read = createConversationReader("sticky");
  for (let n = 0; n <= 10_000; n += 1) read([user(`message ${n}`)]).keep("fast");
  const next = (n: number) => read([user(`message ${n}`), assistant("a"), user("and?")]).atLeast;
  expect([next(0), next(1), next(10_000)]).toEqual([null, "fast", "fast"]);
});
