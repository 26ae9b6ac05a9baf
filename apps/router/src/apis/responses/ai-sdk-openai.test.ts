import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { seededRandom } from "evaluator-kit";
import { expect, test } from "vitest";
import type {
  Conversation,
  Message,
  Part,
  ToolCallPart,
  ToolResultPart,
} from "../../conversation/conversation.ts";
import { toCallOptions } from "../../conversation/to-call-options.ts";
import { responsesApi } from "./responses-api.ts";

/** Returns the body that `@ai-sdk/openai` sends for a conversation. */
async function toBody(conversation: Conversation, model: string): Promise<unknown> {
  let body: unknown;
  const provider = createOpenAI({
    apiKey: "unused",
    fetch: async (url, init) => {
      body = await new Request(url, init).json();
      return Response.json({}, { status: 400 });
    },
  });
  const options = toCallOptions(conversation, "openai-responses");
  await expect(provider.responses(model).doStream(options)).rejects.toMatchObject({
    statusCode: 400,
  });
  return body;
}

function createConversations(random: () => number) {
  const chance = (part: number) => random() < part;
  const pick = <TValue>(values: readonly TValue[]): TValue =>
    values[Math.floor(random() * values.length)] as TValue;
  const some = <TValue>(most: number, create: (index: number) => TValue): TValue[] =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, (_, index) => create(index));
  let ids = 0;
  const id = () => `${(ids += 1)}`;
  const words = () =>
    pick(["Grüße", "line\nbreak", '{"quoted":true}', "\u2028", "🙂", "<tag>"]) + id();
  const text = () => ({ type: "text" as const, text: words() });
  const image = () => ({
    type: "image" as const,
    url: pick(["https://example.com/a.png", "data:image/png;base64,iVBORw=="]),
    ...(chance(0.3) && { providerOptions: { openai: { imageDetail: "low" } } }),
  });
  const file = () => {
    const [mediaType, filename] = ["application/pdf", `${id()}.pdf`];
    if (chance(0.5))
      return { type: "file" as const, url: "https://example.com/a.pdf", mediaType, filename: null };
    return {
      type: "file" as const,
      url: "data:application/pdf;base64,JVBERi0=",
      mediaType,
      filename,
    };
  };
  const reasoning = (): Part => {
    const signature = `gAAAA${id()}`;
    const named = chance(0.5) ? { itemId: `rs_${id()}` } : {};
    return {
      type: "reasoning",
      text: chance(0.7) ? words() : "",
      signature,
      providerOptions: { openai: { ...named, reasoningEncryptedContent: signature } },
    };
  };
  const call = (): ToolCallPart => ({
    type: "toolCall",
    id: `call_${id()}`,
    name: pick(["look", "mcp__disk__list"]),
    arguments: JSON.stringify(pick([{}, { at: words() }, { deep: [{ a: [1, null] }] }])),
    signature: null,
  });
  const result = ({ id }: ToolCallPart): ToolResultPart => ({
    type: "toolResult",
    id,
    parts: pick([[text()], [text(), image()], [image(), text(), file()]]),
    isError: false,
  });
  const turn = (): Message[] => {
    const calls = some(3, call);
    const said: Part[] = [...some(2, reasoning), ...some(2, text), ...calls];
    const asked = {
      role: "user" as const,
      parts: [text(), ...some(2, () => pick([text, image, file])())],
    };
    const results = calls.map(result);
    const answered: Message = { role: "user", parts: [...results, text()] };
    return [
      asked,
      ...(said.length > 0 ? [{ role: "assistant" as const, parts: said }] : []),
      ...(results.length > 0 ? [answered] : []),
    ];
  };
  const tool = (name: string) => ({
    name,
    description: chance(0.5) ? words() : null,
    parameters: { type: "object", properties: { at: { type: "string" } } },
    strict: chance(0.5),
  });
  return (isReasoning: boolean): Conversation => {
    const tools = some(1, () => ["look", "mcp__disk__list"].map(tool)).flat();
    const schema = { type: "object", properties: {}, additionalProperties: false };
    const format = { name: "answer", description: null, schema, strict: chance(0.5) };
    const isSerial = chance(0.3);
    const effort = pick(["low", "medium", "high"] as const);
    return {
      messages: [
        ...some(1, (): Message => ({ role: "system", parts: [text()] })),
        ...some(4, turn).flat(),
      ],
      tools,
      toolChoice:
        tools.length === 0
          ? null
          : pick([
              null,
              { type: "auto" },
              { type: "required" },
              { type: "tool", toolName: "look" },
            ]),
      format: chance(0.3) ? format : null,
      settings: isReasoning
        ? { reasoning: effort, maxOutputTokens: 100 }
        : { temperature: 0.5, topP: 1 },
      providerOptions: {
        openai: {
          textVerbosity: "low",
          promptCacheKey: id(),
          ...(isReasoning && { reasoningSummary: "auto" }),
          ...(isSerial && { parallelToolCalls: false }),
        },
        ...(isSerial && { anthropic: { disableParallelToolUse: true } }),
      },
    };
  };
}

test("a conversation written by @ai-sdk/openai is read unchanged, with every part", async () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const isReasoning = seed % 2 === 0;
    const conversation = createConversations(seededRandom(seed))(isReasoning);
    const request = responsesApi.read(
      await toBody(conversation, isReasoning ? "gpt-5.1" : "gpt-4o"),
    );
    expect(request.conversation, `seed ${seed}`).toEqual(conversation);
    expect([request.unsupported, request.unread, request.isStreamed]).toEqual([null, [], true]);
  }
});

const usage = { input: 5000, cacheRead: 95_000, cacheWrite: null, output: 30, reasoning: 20 };

test("@ai-sdk/openai reads a streamed reply and a whole one", async () => {
  const signature = { value: "sig", metadata: {} };
  const request = responsesApi.read({ model: "auto", input: "hi" });
  const writer = responsesApi.write({ requestId: "r", model: "m", createdAt: 9 }, request);
  const events = [
    ...writer.begin(),
    ...writer.add([
      { type: "reasoning", key: "0", text: "hm" },
      { type: "reasoning", key: "0", text: "", signature },
      { type: "text", key: "1", text: "Hello" },
      { type: "toolCall", key: "2", id: "call_a", name: "look", text: '{"at":1}' },
      { type: "toolCall", key: "3", id: "call_b", name: "look", text: "{}" },
    ]),
    ...writer.end({ finishReason: "tool-calls", usage }),
  ];
  const lines = events.map(
    ({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
  );
  const provider = createOpenAI({
    apiKey: "unused",
    fetch: async (url, init) => {
      const isStreamed = (await new Request(url, init).text()).includes('"stream":true');
      const headers = { "content-type": "text/event-stream" };
      if (!isStreamed) return Response.json(writer.whole());
      return new Response(lines.join(""), { headers });
    },
  });
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];
  const options = { prompt, providerOptions: { openai: { store: false } } };
  const { stream } = await provider.responses("auto").doStream(options);
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  expect(parts.filter(({ type }) => type === "error")).toEqual([]);
  const whole = await provider.responses("auto").doGenerate(options);
  const openai = { itemId: "reasoning_r_0", reasoningEncryptedContent: "sig" };
  const callA = { type: "tool-call", toolCallId: "call_a", toolName: "look", input: '{"at":1}' };
  expect(whole.content).toMatchObject([
    { type: "reasoning", text: "hm", providerMetadata: { openai } },
    { type: "text", text: "Hello" },
    callA,
    { type: "tool-call", toolCallId: "call_b", input: "{}" },
  ]);
  expect(parts).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: "reasoning-end", providerMetadata: { openai } }),
      expect.objectContaining(callA),
      expect.objectContaining({ type: "text-delta", delta: "Hello" }),
      expect.objectContaining({ type: "finish", usage: whole.usage }),
    ]),
  );
  expect(whole.usage).toMatchObject({
    inputTokens: { total: 100_000, cacheRead: 95_000 },
    outputTokens: { total: 30, reasoning: 20 },
  });
});
