import { createAnthropic } from "@ai-sdk/anthropic";
import { seededRandom } from "evaluator-kit";
import { expect, test } from "vitest";
import type {
  Conversation,
  FilePart,
  ImagePart,
  Message,
  Part,
  ReplySettings,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../../conversation/conversation.ts";
import { toCallOptions } from "../../conversation/to-call-options.ts";
import { messagesApi } from "./messages-api.ts";

/** Returns the body that `@ai-sdk/anthropic` sends for a conversation. */
async function toBody(conversation: Conversation): Promise<unknown> {
  let body: unknown;
  const provider = createAnthropic({
    apiKey: "unused",
    fetch: (_url, init) => {
      body = JSON.parse(init?.body as string);
      const error = { type: "api_error", message: "Only the body was wanted." };
      return Promise.resolve(Response.json({ type: "error", error }, { status: 400 }));
    },
  });
  const options = toCallOptions(conversation, "anthropic");
  await expect(provider("claude-sonnet-4-5").doStream(options)).rejects.toThrow("Only the body");
  return body;
}

function createConversation(random: () => number): Conversation {
  const chance = (part: number) => random() < part;
  const pick = <TValue>(values: readonly TValue[]): TValue =>
    values[Math.floor(random() * values.length)] as TValue;
  const some = <TValue>(most: number, create: () => TValue): TValue[] =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, create);
  let ids = 0;
  const words = () =>
    `${pick(["Grüße", "a\nb", '{"quoted":true}', "\u2028", "🙂", "<tag>"])}${(ids += 1)}`;
  let marks = 0;
  const marked = () => {
    if (marks === 4 || chance(0.8)) return {}; // the service takes four marks
    marks += 1;
    const cacheControl = pick([{ type: "ephemeral" }, { type: "ephemeral", ttl: "1h" }]);
    return { providerOptions: { anthropic: { cacheControl } } };
  };
  const text = (options: object = marked()): TextPart => ({
    type: "text",
    text: words(),
    ...options,
  });
  const image = (options: object = marked()): ImagePart => ({
    type: "image",
    url: pick(["https://example.com/a.png", "data:image/png;base64,iVBORw=="]),
    ...options,
  });
  const file = (): FilePart => ({
    type: "file",
    filename: pick([null, `${words()}.pdf`]),
    ...pick([
      { url: "https://example.com/a.pdf", mediaType: "application/pdf" },
      { url: "data:application/pdf;base64,JVBERi0=", mediaType: "application/pdf" },
      { url: "data:text/plain;base64,R3LDvMOfZQ==", mediaType: "text/plain" },
    ]),
    ...marked(),
  });
  const reasoning = (): Part => {
    const signature = `opaque ${words()}`;
    const [shown, redacted] = [{ signature }, { redactedData: signature }];
    const options = { providerOptions: { anthropic: pick([shown, redacted]) } };
    const isShown = options.providerOptions.anthropic === shown;
    return { type: "reasoning", text: isShown ? words() : "", signature, ...options };
  };
  const call = (): ToolCallPart => ({
    type: "toolCall",
    id: `toolu_${(ids += 1)}`,
    name: pick(["look", "mcp__disk__list"]),
    arguments: JSON.stringify(pick([{}, { at: words() }, { deep: [{ a: [1, null] }] }])),
    signature: null,
    ...marked(),
  });
  const result = ({ id }: ToolCallPart): ToolResultPart => {
    const isError = chance(0.3);
    const parts = isError ? [text({})] : pick([[text({})], [text({}), image({})]]);
    return { type: "toolResult", id, parts, isError, ...marked() };
  };
  const turn = (): Message[] => {
    const calls = some(3, call);
    const said: Part[] = [...some(2, reasoning), text(), ...calls];
    const asked = [text(), ...some(2, () => pick([text, image, file])())];
    const answered = [...calls.map(result), text()];
    return [
      { role: "user", parts: asked },
      { role: "assistant", parts: said },
      { role: "user", parts: answered },
      { role: "assistant", parts: [text()] },
    ];
  };
  const schema = { type: "object", properties: { at: { type: "string" } } };
  const tool = (name: string) => ({
    name,
    description: pick([null, words()]),
    parameters: schema,
    strict: pick([true, false, null]),
    ...marked(),
  });
  const hasTools = chance(0.5);
  const isSerial = hasTools && chance(0.3);
  const isThinking = chance(0.3);
  const choices = [
    { type: "auto" },
    ...(isThinking ? [] : [{ type: "required" }, { type: "tool", toolName: "look" }]),
  ] as Conversation["toolChoice"][];
  const settings: ReplySettings = isThinking
    ? { reasoning: "low" }
    : pick([
        { temperature: 0.5, topK: 3 },
        { topP: 0.9, stopSequences: ["."] },
      ]);
  const anthropic = {
    ...(isThinking && { thinking: { type: "enabled", budgetTokens: 4000 } }),
    ...(chance(0.5) && { metadata: { userId: words() } }),
    ...(isSerial && { disableParallelToolUse: true }),
  };
  return {
    messages: [
      ...some(1, (): Message => ({ role: "system", parts: [text()] })),
      ...some(3, turn).flat(),
      { role: "user", parts: [text()] },
    ],
    tools: hasTools ? ["look", "mcp__disk__list"].map(tool) : [],
    toolChoice: hasTools ? pick(isSerial ? choices : [null, ...choices]) : null,
    format: null,
    settings: { ...settings, maxOutputTokens: 64_000 },
    providerOptions: { anthropic, ...(isSerial && { openai: { parallelToolCalls: false } }) },
  };
}

test("a conversation written by @ai-sdk/anthropic is read unchanged, with every part", async () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const conversation = createConversation(seededRandom(seed));
    const request = messagesApi.read(await toBody(conversation));
    expect(request.conversation, `seed ${seed}`).toEqual(conversation);
    expect([request.unsupported, request.isStreamed]).toEqual([null, true]);
  }
});
