import { expect, test } from "vitest";
import { withCacheMarks } from "./cache-marks.ts";
import { type Conversation, toConversation, type Message, type Part } from "./conversation.ts";

const text = (value: string) => ({ type: "text", text: value }) as const;
const tool = (name: string) => ({ name, description: null, parameters: {}, strict: null });
const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };
const call: Part = { type: "toolCall", id: "1", name: "f", arguments: "{}", signature: null };
const result = { type: "toolResult", id: "1", parts: [text("12:00")], isError: false } as const;
const said = (...messages: [Message["role"], ...Part[]][]): Conversation => ({
  ...toConversation(""),
  messages: messages.map(([role, ...parts]) => ({ role, parts })),
});

test("tools, system text and the last two steps get a mark at their ends", () => {
  const talk = {
    ...said(
      ["system", text("Be brief."), text("Be kind.")],
      ["user", text("one")],
      ["assistant", call],
      ["user", result, text("two")],
      ["assistant", call],
      ["user", result, text("")],
    ),
    tools: [tool("f"), tool("g")],
  };
  expect(withCacheMarks(talk)).toEqual({
    ...said(
      ["system", text("Be brief."), { ...text("Be kind."), providerOptions }],
      ["user", text("one")],
      ["assistant", call],
      ["user", result, { ...text("two"), providerOptions }],
      ["assistant", call],
      ["user", { ...result, providerOptions }, text("")],
    ),
    tools: [tool("f"), { ...tool("g"), providerOptions }],
  });
});

test.each([
  ["a single question", said(["system", text("Be brief.")], ["user", text("hi")])],
  [
    "a client's own marks",
    { ...said(["user", text("hi")]), tools: [{ ...tool("f"), providerOptions }] },
  ],
  [
    "a mark in a result",
    said(
      ["assistant", call],
      ["user", { ...result, parts: [{ ...text("12:00"), providerOptions }] }],
    ),
  ],
  ["a mark of the whole request", { ...said(["assistant", text("hi")]), providerOptions }],
])("%s is left alone", (_, talk) => {
  expect(withCacheMarks(talk)).toBe(talk);
});
