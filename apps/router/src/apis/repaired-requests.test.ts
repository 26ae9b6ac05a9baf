import { expect, test } from "vitest";
import { oneUpstream } from "../testing/one-upstream.ts";

const user = (content: unknown) => ({ role: "user", content });
const note = user("note");
const calls = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "a", type: "function", function: { name: "look", arguments: "{}" } }],
};
const result = (content: unknown) => ({ role: "tool", tool_call_id: "a", content });

test("a repaired body is passed as JSON with a note in the log, a valid one byte by byte", async () => {
  const { ask, sent, records } = await oneUpstream("openai-chat");
  const valid = [user("hi"), calls, result("1")];
  const space = { seed: 1e300, messages: valid };
  expect((await ask("chat", space)).status).toBe(200);
  const repaired = [user("hi"), calls, note, result(null)];
  expect((await ask("chat", { messages: repaired })).status).toBe(200);
  expect(records.map(({ repairs }) => repairs)).toEqual([[], ["empty-content", "result-order"]]);
  expect(sent[0]).toContain('"seed":1e+300');
  expect(JSON.parse(sent[1] ?? "")).toMatchObject({
    messages: [user("hi"), calls, result(""), note],
  });
});
