import { expect, test } from "vitest";
import { callFor, hello, targetAt } from "../testing/reply-calls.ts";
import type { Conversation, Message } from "../conversation/conversation.ts";
import { connectUpstream } from "./upstream.ts";

const service = { type: "openai-chat", name: "a", baseUrl: "http://a.invalid/v1" } as const;
const whole = { choices: [{ index: 0, message: { content: "ok" }, finish_reason: "stop" }] };
const cache_control = { type: "ephemeral" };

/** Returns the body that a model gets, of a client's body or of a conversation. */
async function bodyFor(
  given: object | Conversation,
  { model = "anthropic/claude-x", marksCaches = true } = {},
) {
  let sent = "";
  const fetch: typeof globalThis.fetch = async (input, init) => {
    sent = await new Request(input, init).text();
    return Response.json(whole);
  };
  const target = targetAt(connectUpstream({ ...service, apiKey: null, fetch }), model);
  const json = JSON.stringify(given);
  const body = JSON.parse(json) as Record<string, unknown>;
  const passed = { upstreamType: service.type, json, body, unsupported: null };
  const { reply } = callFor([target], {
    marksCaches,
    ...("toolChoice" in given ? { conversation: given } : { passed }),
  });
  expect((await reply).replyError).toBeNull();
  return sent;
}

const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
const talk = {
  model: "anthropic/claude-x",
  tools: [{ type: "function", function: { name: "f" } }],
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "one" },
    { role: "assistant", content: null, tool_calls: [call, call] },
    { role: "tool", tool_call_id: "c", content: "1" },
    { role: "tool", tool_call_id: "c", content: "2" },
    { role: "assistant", content: "two" },
    {
      role: "user",
      content: [
        { type: "text", text: "three" },
        { type: "text", text: "" },
      ],
    },
  ],
};

const marked = (text: string) => ({ type: "text", text, cache_control });

test("the system text and the last two steps of a chat body get a mark at their ends", async () => {
  const [system, one, said, first, , two] = talk.messages;
  expect(JSON.parse(await bodyFor(talk))).toEqual({
    ...talk,
    messages: [
      { ...system, content: [marked("Be brief.")] },
      one,
      said,
      first,
      { role: "tool", tool_call_id: "c", content: [marked("2")] },
      two,
      { role: "user", content: [marked("three"), { type: "text", text: "" }] },
    ],
  });
});

const [system] = talk.messages;

test.each([
  ["another model's", talk, { model: "openai/gpt-x" }],
  ["a body with the setting off", talk, { marksCaches: false }],
  ["a single question", { messages: [system, { role: "user", content: "hi" }] }, {}],
  [
    "a client's own marks",
    { ...talk, messages: [{ role: "system", content: [marked("a")] }, ...talk.messages.slice(1)] },
    {},
  ],
  ["no message", { tools: [], messages: null }, {}],
])("%s passes unchanged", async (_, body, options) => {
  const { model = "anthropic/claude-x" } = options as { model?: string };
  const json = JSON.stringify({ ...body, model });
  expect(await bodyFor({ ...body, model }, options)).toBe(json);
});

test("a translated conversation gets the marks too", async () => {
  const text = (value: string) => [{ type: "text", text: value }] as const;
  const messages: Message[] = [
    { role: "system", parts: text("Be brief.") },
    { role: "user", parts: text("one") },
    { role: "assistant", parts: text("two") },
    { role: "user", parts: text("three") },
  ];
  const sent = JSON.parse(await bodyFor({ ...hello, messages })) as { messages: unknown };
  expect(sent.messages).toEqual([
    { role: "system", content: [marked("Be brief.")] },
    { role: "user", content: [marked("one")] },
    { role: "assistant", content: "two" },
    { role: "user", content: [marked("three")] },
  ]);
});
