import Anthropic, { APIError } from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { describe, expect, test } from "vitest";
import { collect } from "../../apps/router/src/testing/read-answers.ts";
import { eventOf, replyStream } from "../../apps/router/src/testing/reply-stream.ts";
import {
  replySources,
  startRouterWith,
  startTestRouter,
} from "../../apps/router/src/testing/test-router.ts";

const input_schema = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"],
  additionalProperties: false,
};
const weather = { name: "get_weather", description: "Weather of a city", input_schema };
const question = "What is the weather in Paris and Oslo?";
const asking = (content: string) => ({
  model: "claude-opus-5-5",
  max_tokens: 1000,
  messages: [{ role: "user" as const, content }],
});

function clientOf(baseURL: string) {
  return new Anthropic({ apiKey: "any", baseURL });
}

async function clientWith(...given: Parameters<typeof startTestRouter>) {
  const router = await startTestRouter(...given);
  return { ...router, client: clientOf(router.origin) };
}

async function failureOf(call: Promise<unknown>): Promise<APIError> {
  const error = await call.catch((thrown: unknown) => thrown);
  if (error instanceof APIError) return error;
  throw new Error("The call did not fail.");
}

describe.each(replySources)("with replies of the %s", (kind) => {
  const newClient = async () => clientOf((await startRouterWith(kind)).replace(/\/v1$/, ""));

  test("messages.create: text, with its model, tokens and decision", async () => {
    const client = await newClient();
    const { data, response } = await client.messages.create(asking("hi")).withResponse();
    expect(data).toMatchObject({
      type: "message",
      role: "assistant",
      model: response.headers.get("x-router-model"),
      content: [{ type: "text", text: expect.stringContaining('You asked: "hi"') as string }],
      stop_reason: "end_turn",
    });
    expect(data.usage.input_tokens).toBeGreaterThan(0);
    expect(data.usage.output_tokens).toBeGreaterThan(0);
    expect(response.headers.get("x-router-tier")).toBe("nano");
  });

  test("messages.stream: the text in pieces is the final message", async () => {
    const client = await newClient();
    const stream = client.messages.stream(asking("hi"));
    const texts: string[] = [];
    stream.on("text", (text) => texts.push(text));
    const message = await stream.finalMessage();
    expect(message.content).toMatchObject([{ type: "text", text: texts.join("") }]);
    expect(texts.join("")).toContain('You asked: "hi"');
    expect(message.stop_reason).toBe("end_turn");
    expect(message.usage.input_tokens).toBeGreaterThan(0);
    expect(message.usage.output_tokens).toBeGreaterThan(0);
  });

  test("parallel tool calls, streamed, and their results in a second step", async () => {
    const client = await newClient();
    const given = { ...asking(question), tools: [weather] };
    const called = await client.messages.stream(given).finalMessage();
    const calls = called.content.filter((block) => block.type === "tool_use");
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ["get_weather", { city: "Paris" }],
      ["get_weather", { city: "Oslo" }],
    ]);
    expect(called.stop_reason).toBe("tool_use");
    const content = calls.map(({ id, input }) => ({
      type: "tool_result" as const,
      tool_use_id: id,
      content: `rain in ${(input as { city: string }).city}`,
    }));
    const results = { role: "user" as const, content };
    const messages = [
      ...given.messages,
      { role: "assistant" as const, content: called.content },
      results,
    ];
    const answer = await client.messages.create({ ...given, messages });
    expect(JSON.stringify(answer.content)).toContain("rain in Paris");
    expect(JSON.stringify(answer.content)).toContain("rain in Oslo");
    expect(answer.stop_reason).toBe("end_turn");
  });

  test.each([true, false])("the tool runner (stream: %s)", async (stream) => {
    const client = await newClient();
    const asked: string[] = [];
    const tool = betaTool({
      name: weather.name,
      description: weather.description,
      inputSchema: input_schema,
      run: (input) => {
        const { city } = input as { city: string };
        asked.push(city);
        return `rain in ${city}`;
      },
    });
    const runner = client.beta.messages.toolRunner({ ...asking(question), tools: [tool], stream });
    const last = await runner.runUntilDone();
    expect(JSON.stringify(last.content)).toContain("rain in Oslo");
    expect(asked).toEqual(["Paris", "Oslo"]);
  });

  test("one call where no more are wanted, and none where none is", async () => {
    const client = await newClient();
    const given = { ...asking(question), tools: [weather] };
    const serial = { type: "any" as const, disable_parallel_tool_use: true };
    const single = await client.messages.create({ ...given, tool_choice: serial });
    expect(single.content).toMatchObject([{ type: "tool_use", input: { city: "Paris" } }]);
    const none = await client.messages.create({ ...given, tool_choice: { type: "none" } });
    expect(none.content).toMatchObject([{ type: "text" }]);
  });
});

test("messages.countTokens counts system and tools, and asks no model", async () => {
  const { client, seen } = await clientWith();
  const { max_tokens: _, ...request } = asking("hi");
  const bare = await client.messages.countTokens(request);
  const system = "Be brief. ".repeat(40);
  const whole = await client.messages.countTokens({ ...request, system, tools: [weather] });
  expect(bare.input_tokens).toBeGreaterThan(0);
  expect(whole.input_tokens - bare.input_tokens).toBeGreaterThan(100);
  expect(seen).toEqual([]);
});

test("thinking and its signature come to the client and go back, cached tokens are counted", async () => {
  const anthropic = { signature: "b3BhcXVl" };
  const parts = [
    { type: "reasoning-start", id: "0" },
    { type: "reasoning-delta", id: "0", delta: "Hm." },
    { type: "reasoning-delta", id: "0", delta: "", providerMetadata: { anthropic } },
    { type: "reasoning-end", id: "0" },
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: "Hello." },
    { type: "text-end", id: "1" },
    {
      type: "finish",
      finishReason: { unified: "stop" },
      usage: {
        inputTokens: { total: 100, noCache: 5, cacheRead: 90, cacheWrite: 5 },
        outputTokens: { total: 30, reasoning: 20 },
      },
    },
  ];
  const headers = { "content-type": "text/event-stream" };
  const reply = () => new Response(parts.map(eventOf).join(""), { headers });
  const { client, seen } = await clientWith({ reply });
  const cache_control = { type: "ephemeral" as const };
  const given = {
    ...asking("hi"),
    system: [{ type: "text" as const, text: "Be brief.", cache_control }],
    thinking: { type: "enabled" as const, budget_tokens: 1024 },
    model: "fast",
  };
  const message = await client.messages.stream(given).finalMessage();
  expect(message.content).toMatchObject([
    { type: "thinking", thinking: "Hm.", signature: "b3BhcXVl" },
    { type: "text", text: "Hello." },
  ]);
  expect(message.usage).toMatchObject({
    input_tokens: 5,
    cache_read_input_tokens: 90,
    cache_creation_input_tokens: 5,
    output_tokens: 30,
    output_tokens_details: { thinking_tokens: 20 },
  });
  const answered = { role: "assistant" as const, content: message.content };
  const messages = [...given.messages, answered, { role: "user" as const, content: "And?" }];
  await client.messages.stream({ ...given, messages }).finalMessage();
  const cached = { anthropic: { cacheControl: cache_control } };
  expect(seen.at(-1)?.body).toMatchObject({
    prompt: [
      { role: "system", content: "Be brief.", providerOptions: cached },
      { role: "user" },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm.", providerOptions: { anthropic } },
          { type: "text", text: "Hello." },
        ],
      },
      { role: "user" },
    ],
  });
});

test("a stream that breaks off is the package's own error, not an end", async () => {
  const { client } = await clientWith({ reply: () => replyStream(["half "], { isCut: true }) });
  const stream = await client.messages.create({ ...asking("hi"), stream: true });
  const error = await failureOf(collect(stream));
  expect(error.type).toBe("api_error");
  expect(error.message).toContain("The provider went away.");
});

const rejected: [status: number, expected: number, type: string][] = [
  [400, 400, "invalid_request_error"],
  [403, 502, "api_error"],
  [429, 429, "rate_limit_error"],
  [503, 529, "overloaded_error"],
  [529, 529, "overloaded_error"],
];

test.each(rejected)("a reply's status %i is %i, the error %s", async (status, expected, type) => {
  const headers = { "retry-after": "0" };
  const reply = () => Response.json({ error: { message: "Not for you." } }, { status, headers });
  const { client } = await clientWith({ reply });
  for (const stream of [true, false]) {
    const call = client.messages.create({ ...asking("hi"), stream }, { maxRetries: 0 });
    const error = await failureOf(call);
    expect(error).toMatchObject({ status: expected, type });
    expect(error.message).toContain("Not for you.");
  }
});

test("a wrong request is refused by its path, and an unknown model by those that are here", async () => {
  const { client, seen } = await clientWith();
  const tools = [{ type: "web_search_20250305" as const, name: "web_search" as const }];
  const searching = await failureOf(client.messages.create({ ...asking("hi"), tools }));
  expect(searching).toMatchObject({ status: 400, type: "invalid_request_error" });
  expect(searching.message).toContain("tools.0.type: not supported");
  const other = await failureOf(client.messages.create({ ...asking("hi"), model: "gpt-99" }));
  expect(other).toMatchObject({ status: 404, type: "not_found_error" });
  expect(other.message).toContain("use auto, nano, fast, balanced, frontier");
  expect(seen.filter(({ path }) => path.endsWith("/language-model"))).toEqual([]);
});

test("a key is taken as x-api-key and as a bearer token; another one is the error of the API", async () => {
  const token = "a-token-of-many-characters";
  const { origin: baseURL } = await clientWith({}, { env: { ROUTER_ACCESS_TOKEN: token } });
  for (const key of [{ apiKey: token }, { authToken: token, apiKey: null }]) {
    const { content } = await new Anthropic({ ...key, baseURL }).messages.create(asking("hi"));
    expect(content).toHaveLength(1);
  }
  const wrong = clientOf(baseURL).messages;
  for (const call of [wrong.create(asking("hi")), wrong.countTokens(asking("hi"))]) {
    expect(await failureOf(call)).toMatchObject({ status: 401, type: "authentication_error" });
  }
});

test("models are listed and looked up in the API's form", async () => {
  const { client } = await clientWith();
  const ids = (await client.models.list()).data.map(({ id }) => id);
  expect(ids).toEqual(["auto", "nano", "fast", "balanced", "frontier", "typesafe-ai/jev"]);
  expect(await client.models.retrieve("auto")).toMatchObject({ id: "auto", type: "model" });
  const missing = await failureOf(client.models.retrieve("gpt-99"));
  expect(missing).toMatchObject({ status: 404, type: "not_found_error" });
});
