import OpenAI, { APIError } from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { collect } from "../../apps/router/src/testing/read-answers.ts";
import { replyStream } from "../../apps/router/src/testing/reply-stream.ts";
import { replySources, startRouterWith } from "../../apps/router/src/testing/test-router.ts";
import { openAiClient } from "./openai-client.ts";

const weather = {
  type: "function" as const,
  name: "get_weather",
  description: "Weather of a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
};
const question = "What is the weather in Paris and Oslo?";
const filmSchema = z.object({ title: z.string(), mood: z.enum(["glad", "sad"]), year: z.int() });
const filmPrompt = 'The film "Alien" of 1979 is sad';
const film = { title: "Alien", mood: "sad", year: 1979 };

describe.each(replySources)("with replies of the %s", (kind) => {
  const open = async () => new OpenAI({ apiKey: "any", baseURL: await startRouterWith(kind) });

  test("a whole reply has its text and its tokens", async () => {
    const client = await open();
    const response = await client.responses.create({
      model: "auto",
      instructions: "Be brief.",
      input: "hi",
    });
    expect(response).toMatchObject({ status: "completed", error: null, object: "response" });
    expect(response.output_text).toContain("not from a language model");
    expect(response.usage?.total_tokens).toBeGreaterThan(0);
  });

  test("a streamed reply arrives in pieces, and is the same as the whole one", async () => {
    const client = await open();
    const stream = client.responses.stream({ model: "auto", input: "hi" });
    const deltas: string[] = [];
    stream.on("response.output_text.delta", ({ delta }) => deltas.push(delta));
    const { output_text, status } = await stream.finalResponse();
    expect(status).toBe("completed");
    expect(deltas.length).toBeGreaterThan(4);
    expect(deltas.join("")).toBe(output_text);
    expect(output_text).toContain("not from a language model");
  });

  test("parallel tools in two steps, streamed and whole", async () => {
    const client = await open();
    const asked = { role: "user" as const, content: question };
    const request = { model: "auto", tools: [weather], store: false };
    const first = await client.responses.stream({ ...request, input: [asked] }).finalResponse();
    const calls = first.output.filter((item) => item.type === "function_call");
    expect(calls.map((call) => JSON.parse(call.arguments) as unknown)).toEqual([
      { city: "Paris" },
      { city: "Oslo" },
    ]);
    expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(2);
    const outputs = calls.map(({ call_id, arguments: text }) => {
      const { city } = JSON.parse(text) as { city: string };
      return { type: "function_call_output" as const, call_id, output: `rain in ${city}` };
    });
    const sent = calls.map(({ parsed_arguments: _parsed, ...call }) => call);
    const second = await client.responses.create({
      ...request,
      input: [asked, ...sent, ...outputs],
    });
    expect(second.output_text).toContain("rain in Oslo");
  });

  test("a custom tool has its input as text", async () => {
    const client = await open();
    const response = await client.responses.create({
      model: "auto",
      input: "Please patch it",
      tools: [{ type: "custom", name: "apply_patch", description: "Patches a file" }],
      tool_choice: { type: "custom", name: "apply_patch" },
    });
    expect(response.output).toMatchObject([
      { type: "custom_tool_call", name: "apply_patch", input: expect.any(String) },
    ]);
  });

  test("structured output is parsed", async () => {
    const client = await open();
    const text = { format: zodTextFormat(filmSchema, "film") };
    const request = { model: "auto", input: filmPrompt, text };
    expect((await client.responses.parse(request)).output_parsed).toEqual(film);
    expect((await client.responses.stream(request).finalResponse()).output_parsed).toEqual(film);
  });
});

async function failureOf(call: Promise<unknown>): Promise<APIError> {
  const error = await call.catch((thrown: unknown) => thrown);
  if (error instanceof APIError) return error;
  throw new Error("The call did not fail.");
}

test("state at the server is an error with its field", async () => {
  const { client, seen } = await openAiClient();
  const fields = {
    previous_response_id: "resp_1",
    conversation: "conv_1",
    background: true,
    store: true,
  };
  for (const [param, value] of Object.entries(fields)) {
    const call = client.responses.create({ model: "auto", input: "hi", [param]: value });
    expect(await failureOf(call)).toMatchObject({ status: 400, param });
  }
  expect(seen).toEqual([]);
});

test.each([true, false])(
  "a failed reply is the package's own error (stream: %s)",
  async (stream) => {
    const reply = () => Response.json({ error: { message: "Not for you." } }, { status: 403 });
    const { client } = await openAiClient({ reply });
    const error = await failureOf(client.responses.create({ model: "auto", input: "hi", stream }));
    expect(error.status).toBe(502);
    expect(error.message).toContain("Not for you.");
  },
);

test("a stream that breaks off ends with response.failed", async () => {
  const { client } = await openAiClient({ reply: () => replyStream(["half "], { isCut: true }) });
  const stream = await client.responses.create({ model: "auto", input: "hi", stream: true });
  const events = await collect(stream);
  expect(events.at(-1)).toMatchObject({
    type: "response.failed",
    response: { status: "failed", error: { code: "server_error" } },
  });
});

test("Codex's own model names mean auto, and others are not found", async () => {
  const { client } = await openAiClient();
  const response = await client.responses.create({ model: "gpt-5.2-codex", input: "hi" });
  expect(response.status).toBe("completed");
  const error = await failureOf(client.responses.create({ model: "claude-x", input: "hi" }));
  expect(error).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
});
