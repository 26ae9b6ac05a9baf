import { expect, test } from "vitest";
import { toTierState } from "./conversation.ts";

test("the last user message is the state, and a conversation without one has an empty state", () => {
  const talk = [
    { role: "user", content: "Write a payroll system" },
    { role: "assistant", content: "Shall I?" },
    { role: "user", content: "yes do it" },
  ];
  expect(toTierState(talk)).toEqual({ user_message: "yes do it" });
  expect(toTierState(talk.slice(1, 2))).toEqual({ user_message: "" });
});
