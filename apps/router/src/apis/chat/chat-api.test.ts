import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { seededRandom } from "evaluator-kit";
import { expect, test } from "vitest";
import type { Conversation, Message, Part, Tool } from "../../conversation/conversation.ts";
import { toCallOptions } from "../../conversation/to-call-options.ts";
import { chatApi } from "./chat-api.ts";

/** Returns the body that the `ai` package's provider sends for a conversation. */
async function toBody(conversation: Conversation): Promise<unknown> {
  let body: unknown;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    body = await new Request(input, init).json();
    return Response.json({ choices: [{ message: { content: "ok" }, finish_reason: "stop" }] });
  };
  const settings = { name: "upstream", baseURL: "http://upstream.invalid/v1", fetch };
  const provider = createOpenAICompatible({ ...settings, supportsStructuredOutputs: true });
  await provider("auto").doGenerate(toCallOptions(conversation, "openai-chat"));
  return body;
}

/** Draws conversations that the API can hold. */
function drawConversation(random: () => number): Conversation {
  const below = (limit: number) => Math.floor(random() * limit);
  const maybe = <TValue>(value: TValue): TValue[] => (random() < 0.5 ? [value] : []);
  const optional = <TFields extends object>(fields: TFields) => (random() < 0.5 ? fields : {});
  const text = () =>
    ["hi", "Grüße 👋", "a\nb", '{"a":1}', "__proto__", "x".repeat(200)][below(6)] ?? "";
  const textPart = (): Part => ({ type: "text", text: text() });
  const media = (): Part[] => [
    { type: "image", url: "https://example.com/a.png" },
    { type: "image", url: "data:image/png;base64,aGk=" },
    {
      type: "file",
      url: "data:application/pdf;base64,aGk=",
      mediaType: "application/pdf",
      filename: "a.pdf",
    },
    { type: "file", url: "data:audio/wav;base64,aGk=", mediaType: "audio/wav", filename: null },
  ];
  const signed = () => {
    const signature = `c2ln${below(100)}`;
    return { signature, providerOptions: { google: { thoughtSignature: signature } } };
  };
  let calls = 0;
  const step = (): Message[] => {
    const asked = Array.from({ length: below(3) }, () => ({
      type: "toolCall" as const,
      id: `call_${(calls += 1)}`,
      name: `tool_${below(3)}`,
      arguments: JSON.stringify({ a: text() }),
      ...(random() < 0.5 ? signed() : { signature: null }),
    }));
    const reasoning = { type: "reasoning" as const, text: text(), signature: null };
    const parts = [
      ...maybe(reasoning),
      ...(asked.length === 0 ? [textPart()] : maybe(textPart())),
      ...asked,
    ];
    const results = asked.map(({ id }): Part => {
      return { type: "toolResult", id, parts: [{ type: "text", text: text() }], isError: false };
    });
    const said = asked.length === 0 ? [textPart()] : maybe(textPart());
    return [
      { role: "assistant", parts },
      { role: "user", parts: [...results, ...said] },
    ];
  };
  const tool = (_: unknown, index: number): Tool => ({
    name: `tool_${index}`,
    description: maybe(text())[0] ?? null,
    parameters: { type: "object", properties: { a: { type: "string" } } },
    strict: maybe(true)[0] ?? null,
  });
  const tools = Array.from({ length: below(4) }, tool);
  const choices = [
    null,
    { type: "auto" },
    { type: "none" },
    { type: "required" },
    { type: "tool", toolName: "tool_0" },
  ] as const;
  const format = {
    name: "answer",
    description: maybe(text())[0] ?? null,
    schema: { type: "object" },
    strict: true,
  };
  return {
    messages: [
      ...maybe<Message>({ role: "system", parts: [textPart()] }),
      { role: "user", parts: [textPart(), ...media().flatMap(maybe)] },
      ...Array.from({ length: below(4) }, step).flat(),
    ],
    tools,
    toolChoice: tools.length === 0 ? null : (choices[below(5)] ?? null),
    format: maybe(format)[0] ?? null,
    settings: {
      ...optional({ temperature: random(), topP: 0.5 }),
      ...optional({ presencePenalty: 1, frequencyPenalty: -1, seed: below(100) }),
      ...optional({ maxOutputTokens: 1 + below(100), stopSequences: ["END"] }),
      ...optional({ reasoning: (["low", "medium", "high"] as const)[below(3)] ?? "low" }),
    },
    providerOptions: {},
  };
}

test("a conversation written by the ai package's provider is read unchanged", async () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const conversation = drawConversation(seededRandom(seed));
    const { conversation: read, unread, unsupported } = chatApi.read(await toBody(conversation));
    expect({ seed, ...read }).toEqual({ seed, ...conversation });
    expect({ unread, unsupported }).toEqual({ unread: [], unsupported: null });
  }
});
