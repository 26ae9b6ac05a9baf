import { describe, expect, test } from "vitest";
import type { UpstreamType } from "../conversation/upstream-types.ts";
import type { MessageRecord } from "../records/message-record.ts";
import { connectUpstream } from "../reply/upstream.ts";
import { parseRouterOptions } from "../router-options.ts";
import { configureReplies } from "../services/connect-services.ts";
import { apiForms, post } from "../testing/api-forms.ts";
import { readEvents } from "../testing/read-answers.ts";
import { replyStream } from "../testing/reply-stream.ts";
import { servicesOver, testRouter } from "../testing/test-router.ts";
import { gatewayUpstream, testGateway } from "../testing/upstreams.ts";

const message = { id: "m", type: "message", role: "assistant", model: "m", content: [] };
const item = { type: "message", id: "i", role: "assistant", content: [] };
const head = { id: "1", model: "m", created: 1 };
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason }],
});

/** The events of each API: in front of the first word, the word "half", and the end. */
const streams: Record<
  Exclude<UpstreamType, "gateway">,
  { readonly begin: object[]; readonly word: object[]; readonly end: object[]; error: object }
> = {
  "openai-chat": {
    begin: [chunk({ role: "assistant", content: "" })],
    word: [chunk({ content: "half" })],
    end: [chunk({}, "stop")],
    error: { error: { message: "No room.", code: 503 } },
  },
  "openai-responses": {
    begin: [
      {
        type: "response.created",
        sequence_number: 0,
        response: { id: "r", created_at: 1, model: "m" },
      },
    ],
    word: [
      { type: "response.output_item.added", sequence_number: 1, output_index: 0, item },
      {
        type: "response.output_text.delta",
        sequence_number: 2,
        item_id: "i",
        output_index: 0,
        content_index: 0,
        delta: "half",
      },
      { type: "response.output_item.done", sequence_number: 3, output_index: 0, item },
    ],
    end: [
      {
        type: "response.completed",
        sequence_number: 4,
        response: { usage: { input_tokens: 1, output_tokens: 1 } },
      },
    ],
    error: {
      type: "response.failed",
      sequence_number: 4,
      response: { error: { code: "server_error", message: "No room." } },
    },
  },
  anthropic: {
    begin: [
      {
        type: "message_start",
        message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } },
      },
      { type: "ping" },
    ],
    word: [
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "half" } },
      { type: "content_block_stop", index: 0 },
    ],
    end: [
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 1 },
      },
      { type: "message_stop" },
    ],
    error: { type: "error", error: { type: "overloaded_error", message: "No room." } },
  },
};

const types = ["openai-chat", "openai-responses", "anthropic"] as const;
type Type = (typeof types)[number];

const sse = (events: readonly object[], end = "\n") =>
  events.map((event) => `data: ${JSON.stringify(event)}${end}${end}`).join("");
const labelled = (text: string, type = "text/event-stream") =>
  new Response(text, { headers: { "content-type": type } });

type Form = (typeof apiForms)[number];
const pairs = apiForms.flatMap((form) => types.map((type) => [form.name, type, form] as const));

/** Asks for a streamed reply of a service, with the gateway as its fallback. */
async function askFor({ ask, path }: Form, type: Type, answer: Response, stream = true) {
  const address = { baseUrl: "http://upstream.invalid/v1", apiKey: null };
  const first = connectUpstream({ type, name: "u", ...address, fetch: async () => answer });
  const gateway = gatewayUpstream({
    apiKey: "k",
    baseUrl: "http://gateway.invalid",
    fetch: async () => replyStream(["fine"]),
  });
  const services = servicesOver(testGateway().fetch);
  const configured = configureReplies(first, parseRouterOptions({}));
  const plan = configured.tiers.nano;
  const fallback = { upstream: gateway, model: "a/b", price: null };
  const nano = { ...plan, targets: [plan.targets[0], fallback] as const };
  const current = { ...configured, tiers: { ...configured.tiers, nano } };
  const records: MessageRecord[] = [];
  const { request } = await testRouter(
    {},
    {
      services: { ...services, replies: { ...services.replies, current } },
      observe: (record) => records.push(record),
    },
  );
  const response = await request(path, post(ask(["hi"], { model: "nano", stream })));
  const { status } = response;
  if (!stream) return { text: await response.text(), last: undefined, records, status };
  const events = await readEvents(response);
  return { text: JSON.stringify(events), last: events.at(-1), records, status };
}

describe.each(pairs)("a client of %s, a service of %s", (_name, type, form) => {
  const { begin, word, end, error } = streams[type];
  const lasts = { chat: "error", responses: "response.failed", messages: "error" };

  test.each([
    ["an error first", () => labelled(sse([error]))],
    ["an error before the first word", () => labelled(sse([...begin, error]))],
    ["an error as the whole body", () => Response.json({ error: { message: "No." } })],
    ["an error as a body that is labelled a stream", () => labelled('{"error":{"message":"No."}}')],
    ["a page", () => labelled("<html></html>", "text/html")],
    ["an empty body", () => labelled("")],
    ["a mark of the end alone", () => labelled("data: [DONE]\n\n")],
    ["an end before the first word", () => labelled(sse(begin))],
  ])("%s: the fallback replies", async (_situation, answer) => {
    for (const stream of [true, false]) {
      const { text, records } = await askFor(form, type, answer(), stream);
      expect(text).toContain("fine");
      expect(text).not.toContain("half");
      expect(records).toMatchObject([{ outcome: "replied", upstream: "gateway" }]);
    }
  });

  const empty = word.filter((event) => !JSON.stringify(event).includes("half")).slice(0, 1);
  test("an error after an empty block: the fallback replies", async () => {
    const { text, records } = await askFor(form, type, labelled(sse([...begin, ...empty, error])));
    expect(text).toContain("fine");
    expect(records).toMatchObject([{ outcome: "replied", upstream: "gateway" }]);
  });

  test.each([
    ["without its end", sse([...begin, ...word])],
    ["without its end, but with a mark", `${sse([...begin, ...word])}data: [DONE]\n\n`],
    ["with an error", sse([...begin, ...word, error])],
    ["within an event", sse([...begin, ...word, ...word]).slice(0, -4)],
    ["within its last event", sse([...begin, ...word, ...end]).slice(0, -4)],
  ])("a reply that ends %s is a failed reply", async (_situation, stream) => {
    const { text, last, records } = await askFor(form, type, labelled(stream));
    expect(text).toContain("half");
    expect(text).not.toContain("fine");
    expect(last?.event ?? "error").toBe(lasts[form.name]);
    expect(text).toContain("broke off");
    expect(records).toMatchObject([{ outcome: "reply-failed", upstream: "u" }]);
    // A client that waits has seen nothing.
    const waiting = await askFor(form, type, labelled(stream), false);
    expect(waiting.records).toMatchObject([{ outcome: "reply-failed" }]);
    expect(waiting.status).toBeGreaterThanOrEqual(500);
    expect(waiting.text).not.toContain("half");
  });

  const whole = [...begin, ...word, ...end];
  test.each([
    ["labelled as JSON", labelled(sse(whole), "application/json")],
    ["after comments", labelled(`: a\n\n: b\n\n${sse(whole)}`)],
    ["without blanks after data:", labelled(sse(whole).replaceAll("data: ", "data:"))],
    ["with blanks around the end", labelled(`${sse(whole)}data:  [DONE] \n\n`)],
    ["that ends within its mark of the end", labelled(`${sse(whole)}data: [DO`)],
    ["with CR as the line ends", labelled(sse(whole, "\r"))],
  ])("a stream %s is read", async (_situation, answer) => {
    const waiting = await askFor(form, type, answer.clone(), false);
    expect(waiting).toMatchObject({
      status: 200,
      records: [{ outcome: "replied", upstream: "u" }],
    });
    expect(waiting.text).toContain("half");
    const { text, records } = await askFor(form, type, answer);
    expect(text).toContain("half");
    expect(text).not.toMatch(/broke off|fine/);
    expect(records).toMatchObject([{ outcome: "replied", upstream: "u" }]);
  });
});

test.each(apiForms)("words in the start of a block reach a client of $name", async (form) => {
  const { begin, end } = streams.anthropic;
  const blocks = [
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "Do not " } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "delete" } },
    { type: "content_block_stop", index: 0 },
  ];
  const { text } = await askFor(form, "anthropic", labelled(sse([...begin, ...blocks, ...end])));
  expect(text).toMatch(/Do not .*delete/);
});

test.each([true, false])("a reply without choices is none (stream: %j)", async (stream) => {
  for (const form of apiForms) {
    const empty = Response.json({ ...head, choices: [], usage: null });
    const { text, records } = await askFor(form, "openai-chat", empty, stream);
    expect(text).toContain("fine");
    expect(records).toMatchObject([{ outcome: "replied", upstream: "gateway" }]);
  }
});
