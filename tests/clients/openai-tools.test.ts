import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { collect } from "../../apps/router/src/testing/read-answers.ts";
import { replySources, startRouterWith } from "../../apps/router/src/testing/test-router.ts";

const weatherParameters = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"],
  additionalProperties: false,
};
const weather = {
  type: "function" as const,
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: weatherParameters,
  },
};
const question = "What is the weather in Paris and Oslo?";
const filmSchema = z.object({ title: z.string(), mood: z.enum(["glad", "sad"]), year: z.int() });
const filmPrompt = 'The film "Alien" of 1979 is sad';
const film = { title: "Alien", mood: "sad", year: 1979 };

describe.each(replySources)("with replies of the %s", (kind) => {
  test("openai: tools in a loop, whole", async () => {
    const client = new OpenAI({ apiKey: "any", baseURL: await startRouterWith(kind) });
    const asked: string[] = [];
    const runner = client.chat.completions.runTools({
      model: "auto",
      messages: [{ role: "user", content: question }],
      tools: [
        {
          type: "function",
          function: {
            ...weather.function,
            function: (text: string) => {
              const { city } = JSON.parse(text) as { city: string };
              asked.push(city);
              return `rain in ${city}`;
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toContain("rain in Oslo");
    expect(asked).toEqual(["Paris", "Oslo"]);
  });

  test("openai: tool calls streamed in pieces, with their tokens", async () => {
    const client = new OpenAI({ apiKey: "any", baseURL: await startRouterWith(kind) });
    const stream = await client.chat.completions.create({
      model: "auto",
      messages: [{ role: "user", content: question }],
      tools: [weather],
      tool_choice: "required",
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await collect(stream);
    const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    const heads = deltas.filter(({ id }) => id !== undefined);
    expect(heads.map(({ index, function: called }) => [index, called?.name])).toEqual([
      [0, "get_weather"],
      [1, "get_weather"],
    ]);
    const textOf = (index: number) =>
      deltas
        .filter((delta) => delta.index === index)
        .map((delta) => delta.function?.arguments ?? "")
        .join("");
    expect([textOf(0), textOf(1)]).toEqual(['{"city":"Paris"}', '{"city":"Oslo"}']);
    expect(deltas.length).toBeGreaterThan(4);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("tool_calls");
    expect(chunks.at(-1)?.usage?.total_tokens).toBeGreaterThan(0);
  });

  test("openai: structured output, and one call where no more are wanted", async () => {
    const client = new OpenAI({ apiKey: "any", baseURL: await startRouterWith(kind) });
    const parsed = await client.chat.completions.parse({
      model: "auto",
      messages: [{ role: "user", content: filmPrompt }],
      response_format: zodResponseFormat(filmSchema, "film"),
    });
    expect(parsed.choices[0]?.message.parsed).toEqual(film);
    const any = await client.chat.completions.create({
      model: "auto",
      messages: [{ role: "user", content: "hi" }],
      response_format: { type: "json_object" },
    });
    expect(JSON.parse(any.choices[0]?.message.content ?? "")).toHaveProperty("reply");
    const single = await client.chat.completions.create({
      model: "auto",
      messages: [{ role: "user", content: question }],
      tools: [weather],
      parallel_tool_calls: false,
    });
    expect(single.choices[0]).toMatchObject({ finish_reason: "tool_calls" });
    expect(single.choices[0]?.message.tool_calls).toHaveLength(1);
    expect(single.choices[0]?.message.content).toBeNull();
  });
});
