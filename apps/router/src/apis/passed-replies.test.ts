import { describe, expect, test } from "vitest";
import { apiForms } from "../testing/api-forms.ts";
import { oneUpstream, wholeText } from "../testing/one-upstream.ts";
import { readEvents } from "../testing/read-answers.ts";

const types = {
  chat: "openai-chat",
  responses: "openai-responses",
  messages: "anthropic",
} as const;

/** Asks for a streamed reply of an upstream that speaks the client's API, and answers whole by default. */
async function askFor({ name }: (typeof apiForms)[number], answer?: Response) {
  const { ask } = await oneUpstream(types[name], answer && { answer: () => answer });
  const usage = { stream_options: { include_usage: true } };
  return readEvents(await ask(name, { stream: true, ...(name === "chat" && usage) }));
}

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
    const events = await askFor(form);
    const last = { chat: "[DONE]", responses: "response.completed", messages: "message_stop" };
    const { event, data } = events.at(-1) ?? {};
    expect(event ?? data).toBe(last[form.name]);
    expect(JSON.stringify(events)).toContain(wholeText);
  });
});
