import { describe, expect, test } from "vitest";
import { connectUpstream } from "../reply/upstream.ts";
import { parseRouterOptions } from "../router-options.ts";
import { configureReplies } from "../services/connect-services.ts";
import { apiForms, post } from "../testing/api-forms.ts";
import { readEvents } from "../testing/read-answers.ts";
import { servicesOver, testRouter } from "../testing/test-router.ts";
import { testGateway } from "../testing/upstreams.ts";

const types = {
  chat: "openai-chat",
  responses: "openai-responses",
  messages: "anthropic",
} as const;

/** Asks for a streamed reply of an upstream that speaks the client's API. */
async function askFor({ name, path, ask }: (typeof apiForms)[number], answer: Response) {
  const fetch = async () => answer;
  const address = { baseUrl: "http://upstream.invalid/v1", apiKey: null };
  const upstream = connectUpstream({ type: types[name], name: "u", ...address, fetch });
  const services = servicesOver(testGateway().fetch);
  const current = configureReplies(upstream, parseRouterOptions({}));
  const replies = { ...services.replies, current };
  const { request } = await testRouter({}, { services: { ...services, replies } });
  const usage = { stream_options: { include_usage: true } };
  const body = { ...ask(["hi"], { stream: true }), ...(name === "chat" && usage) };
  return readEvents(await request(path, post(body)));
}

const text = "Hello";
const wholes = {
  chat: { choices: [{ index: 0, message: { content: text }, finish_reason: "stop" }] },
  responses: {
    id: "resp_1",
    created_at: 1,
    model: "m",
    output: [
      {
        id: "msg_1",
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text, annotations: [] }],
      },
    ],
    usage: { input_tokens: 5, output_tokens: 7 },
  },
  messages: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    usage: { input_tokens: 5, output_tokens: 7 },
  },
};

describe.each(apiForms)("at the API $name", (form) => {
  test("an error follows the last whole event of a reply that breaks off", async () => {
    const types = { chat: "begun", responses: "response.a", messages: "content_block_delta" };
    const begun = {
      event: form.name === "chat" ? undefined : "begun",
      data: { type: types[form.name], sequence_number: 7, content: "a" },
    };
    async function* chunks() {
      const name = form.name === "chat" ? "" : "event: begun\n";
      const data = JSON.stringify(begun.data);
      yield Buffer.from(`${name}data: ${data}\n\n${name}data: {"type":"begu`);
      throw new TypeError("terminated");
    }
    const events = await askFor(form, new Response(ReadableStream.from(chunks())));
    const last = { chat: undefined, responses: "response.failed", messages: "error" };
    const number = form.name === "responses" ? { sequence_number: 8 } : {};
    const failed = { event: last[form.name], data: expect.objectContaining(number) };
    expect(events).toEqual([begun, failed]);
    expect(JSON.stringify(events[1])).toContain("broke off");
  });

  test("a reply that is not streamed becomes events", async () => {
    const events = await askFor(form, Response.json(wholes[form.name]));
    const last = { chat: "[DONE]", responses: "response.completed", messages: "message_stop" };
    const { event, data } = events.at(-1) ?? {};
    expect(event ?? data).toBe(last[form.name]);
    expect(JSON.stringify(events)).toContain(text);
  });
});
