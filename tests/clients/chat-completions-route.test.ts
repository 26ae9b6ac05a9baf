import OpenAI from "openai";
import { expect, test } from "vitest";
import { collect } from "../../apps/router/src/testing/read-answers.ts";
import { openAiClient } from "./openai-client.ts";

const greeting = [{ role: "user" as const, content: "hi" }];

test("the official package gets a completion from the routed model", async () => {
  const { client } = await openAiClient();
  const call = client.chat.completions.create({ model: "auto", messages: greeting });
  const { data, response } = await call.withResponse();
  expect(data).toMatchObject({
    object: "chat.completion",
    model: "openai/gpt-5-nano",
    choices: [
      {
        index: 0,
        finish_reason: "stop",
        message: { role: "assistant", content: expect.stringContaining("local emulator") },
      },
    ],
    usage: { total_tokens: expect.any(Number) },
  });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "x-router-tier": "nano",
    "x-router-tier-chosen": "nano",
    "x-router-model": "openai/gpt-5-nano",
    "x-router-cause": "choice",
    "x-router-decision-ms": expect.stringMatching(/^\d+$/),
    "x-router-reply-ms": expect.stringMatching(/^\d+$/),
  });
});

test("the official package gets a stream, and its tokens when it asks for them", async () => {
  const { client } = await openAiClient();
  const stream = await client.chat.completions.create({
    model: "auto",
    messages: greeting,
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = await collect(stream);
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  expect(text).toContain("local emulator");
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
});

test("the package's own stream helper works as well", async () => {
  const { client } = await openAiClient();
  const stream = client.chat.completions.stream({ model: "auto", messages: greeting });
  expect(await stream.finalContent()).toContain("local emulator");
});

const notOpenAis = { top_k: 7 };

test("the user's words decide, and the conversation goes to the model as sent", async () => {
  const { client, seen } = await openAiClient();
  await client.chat.completions.create({
    model: "auto",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Write a payroll system." },
      { role: "assistant", content: "No." },
      {
        role: "user",
        content: [
          { type: "text", text: "hi" },
          { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
        ],
      },
      { role: "assistant", content: "Hello" },
    ],
    temperature: 0.5,
    ...notOpenAis,
    reasoning_effort: "low",
    max_completion_tokens: 9,
    stop: "END",
  });
  const words = "Write a payroll system.\n\nhi\n[image]";
  expect(seen[0]?.body).toMatchObject({ state: { user_message: words } });
  expect(seen[1]?.body).toMatchObject({
    temperature: 0.5,
    topK: 7,
    reasoning: "low",
    maxOutputTokens: 9,
    stopSequences: ["END"],
    prompt: [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Write a payroll system." }] },
      { role: "assistant", content: [{ type: "text", text: "No." }] },
      { role: "user", content: [{ type: "text", text: "hi" }, { type: "file" }] },
      { role: "assistant", content: [{ type: "text", text: "Hello" }] },
    ],
  });
});

test("a tier's name takes that tier, without an evaluation", async () => {
  const { client, seen } = await openAiClient();
  const call = client.chat.completions.create({ model: "frontier", messages: greeting });
  const { data, response } = await call.withResponse();
  expect(data.model).toBe("anthropic/claude-fable-5.1");
  expect(response.headers.get("x-router-cause")).toBe("requested");
  expect(seen.map(({ path }) => path)).toEqual(["/v4/ai/language-model"]);
});

test("auto, the four tiers and the decision model are the models", async () => {
  const { client } = await openAiClient();
  const ids = (await client.models.list()).data.map(({ id }) => id);
  expect(ids).toEqual(["auto", "nano", "fast", "balanced", "frontier", "typesafe-ai/jev"]);
});

test("the access token is the package's key", async () => {
  const { origin, client } = await openAiClient(
    {},
    { ROUTER_ACCESS_TOKEN: "a-token-of-many-characters" },
  );
  expect((await client.models.list()).data).toHaveLength(6); // with the decision model
  const stranger = new OpenAI({ apiKey: "another", baseURL: `${origin}/v1` });
  await expect(stranger.models.list()).rejects.toMatchObject({ status: 401 });
});

test("what changes no reply is passed on, or named in a header", async () => {
  const { client, seen } = await openAiClient();
  const call = client.chat.completions.create({
    model: "nano",
    messages: [{ role: "user", content: "hi", name: "Ann" }],
    user: "team-a",
    store: true,
    metadata: { a: "b" },
    service_tier: "flex",
  });
  const { response } = await call.withResponse();
  expect(response.headers.get("x-router-ignored")).toBe(
    "messages.name, store, metadata, service_tier",
  );
  expect(seen[0]?.body).toMatchObject({ providerOptions: { gateway: { user: "team-a" } } });
});

test("a wish for single tool calls is named where the model's maker takes no such wish", async () => {
  const { client } = await openAiClient();
  const ignoredFor = async (model: string) => {
    const messages = [{ role: "user" as const, content: "hi" }];
    const call = client.chat.completions.create({ model, messages, parallel_tool_calls: false });
    return (await call.withResponse()).response.headers.get("x-router-ignored");
  };
  expect(await ignoredFor("nano")).toBe(null);
  expect(await ignoredFor("balanced")).toBe(null);
  expect(await ignoredFor("fast")).toBe("parallel_tool_calls");
});

test.each(["min_p", "repetition_penalty", "guided_json"])(
  "%s would change the reply, and is rejected by name before a model is asked",
  async (field) => {
    const { client, seen } = await openAiClient();
    const body = { model: "auto", messages: [{ role: "user", content: "hi" }], [field]: 0.5 };
    const asked = client.chat.completions.create(body as never);
    await expect(asked).rejects.toMatchObject({ status: 400, param: field });
    expect(seen).toEqual([]);
  },
);

test("an image alone is decided by what it is, and reaches the model", async () => {
  const { client, seen } = await openAiClient();
  const url = "data:image/png;base64,aGk=";
  await client.chat.completions.create({
    model: "auto",
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
  });
  expect(seen[0]?.body).toMatchObject({ state: { user_message: "[image]" } });
  expect(seen[1]?.body).toMatchObject({ prompt: [{ content: [{ mediaType: "image/png" }] }] });
});

test("audio and files reach the model", async () => {
  const { client, seen } = await openAiClient();
  const file_data = "data:application/pdf;base64,aGk=";
  await client.chat.completions.create({
    model: "nano",
    messages: [
      {
        role: "user",
        content: [
          { type: "input_audio", input_audio: { data: "aGk=", format: "mp3" } },
          { type: "file", file: { file_data, filename: "a.pdf" } },
        ],
      },
    ],
  });
  const audio = { type: "file", mediaType: "audio/mpeg" };
  const pdf = { type: "file", mediaType: "application/pdf", filename: "a.pdf" };
  expect(seen[0]?.body).toMatchObject({ prompt: [{ content: [audio, pdf] }] });
});
