import OpenAI, { APIError } from "openai";
import { expect, onTestFinished, test } from "vitest";
import { replyStream } from "../testing/reply-stream.ts";
import { startTestRouter } from "../testing/start-test-router.ts";
import type { Differences } from "../testing/test-gateway.ts";

async function open(differences: Differences = {}, env: Record<string, string> = {}) {
  const router = await startTestRouter(differences, { env });
  onTestFinished(() => router.close());
  const apiKey = env["ROUTER_ACCESS_TOKEN"] ?? "any";
  return { ...router, client: new OpenAI({ apiKey, baseURL: `${router.origin}/v1` }) };
}

async function collect<TItem>(stream: AsyncIterable<TItem>): Promise<TItem[]> {
  const items: TItem[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

const greeting = [{ role: "user" as const, content: "hi" }];

test("the official package gets a completion from the routed model", async () => {
  const { client } = await open();
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
  const { client } = await open();
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
  const { client } = await open();
  const stream = client.chat.completions.stream({ model: "auto", messages: greeting });
  expect(await stream.finalContent()).toContain("local emulator");
});

test("the last user message decides, and the conversation goes to the model as sent", async () => {
  const { client, seen } = await open();
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
    max_completion_tokens: 9,
    stop: "END",
  });
  expect(seen[0]?.body).toMatchObject({ state: { user_message: "hi\n" } });
  expect(seen[1]?.body).toMatchObject({
    temperature: 0.5,
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
  const { client, seen } = await open();
  const call = client.chat.completions.create({ model: "frontier", messages: greeting });
  const { data, response } = await call.withResponse();
  expect(data.model).toBe("anthropic/claude-fable-5.1");
  expect(response.headers.get("x-router-cause")).toBe("requested");
  expect(seen.map(({ path }) => path)).toEqual(["/v4/ai/language-model"]);
});

test("auto and the four tiers are the models", async () => {
  const { client } = await open();
  const ids = (await client.models.list()).data.map(({ id }) => id);
  expect(ids).toEqual(["auto", "nano", "fast", "balanced", "frontier"]);
});

async function failureOf(call: Promise<unknown>): Promise<APIError> {
  const error = await call.catch((thrown: unknown) => thrown);
  if (error instanceof APIError) return error;
  throw new Error("The call did not fail.");
}

const failing = {
  reply: () => Response.json({ error: { message: "Not for you." } }, { status: 403 }),
};

test.each([true, false])(
  "a failed reply is the package's own error (stream: %s)",
  async (stream) => {
    const { client, seen } = await open(failing);
    const error = await failureOf(
      client.chat.completions.create({ model: "auto", messages: greeting, stream }),
    );
    expect(error.status).toBe(502);
    expect(error.message).toContain("Not for you.");
    expect(error.headers?.get("x-router-tier")).toBe("nano");
    expect(seen).toHaveLength(2); // the package did not try again
  },
);

test("a stream that breaks off is an error, not an end", async () => {
  const { client } = await open({ reply: () => replyStream(["half "], { isCut: true }) });
  const stream = await client.chat.completions.create({
    model: "auto",
    messages: greeting,
    stream: true,
  });
  await expect(collect(stream)).rejects.toBeInstanceOf(APIError);
});

test("what the router cannot do is refused by name", async () => {
  const { client, seen } = await open();
  const tools = [{ type: "function" as const, function: { name: "f" } }];
  const model = await failureOf(
    client.chat.completions.create({ model: "gpt-99", messages: greeting }),
  );
  const tooled = await failureOf(
    client.chat.completions.create({ model: "auto", messages: greeting, tools }),
  );
  const image = { type: "image_url" as const, image_url: { url: "file:///etc/passwd" } };
  const pictured = await failureOf(
    client.chat.completions.create({
      model: "auto",
      messages: [{ role: "user", content: [image] }],
    }),
  );
  const silent = await failureOf(
    client.chat.completions.create({ model: "auto", messages: [{ role: "system", content: "x" }] }),
  );
  expect([model, tooled, pictured, silent].map(({ status }) => status)).toEqual([
    404, 400, 400, 400,
  ]);
  expect(model.code).toBe("model_not_found");
  expect(tooled.message).toContain("tools");
  expect(seen).toEqual([]);
});

test("the access token is the package's key", async () => {
  const { origin, client } = await open({}, { ROUTER_ACCESS_TOKEN: "a-token-of-many-characters" });
  expect((await client.models.list()).data).toHaveLength(5);
  const stranger = new OpenAI({ apiKey: "another", baseURL: `${origin}/v1` });
  expect((await failureOf(stranger.models.list())).status).toBe(401);
});
