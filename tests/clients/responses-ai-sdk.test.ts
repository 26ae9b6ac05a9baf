import { createOpenAI } from "@ai-sdk/openai";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, isStepCount, Output, streamText, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { replySources, startRouterWith } from "../../apps/router/src/testing/test-router.ts";

const citySchema = z.object({ city: z.string() });
const question = "What is the weather in Paris and Oslo?";
const filmSchema = z.object({ title: z.string(), mood: z.enum(["glad", "sad"]), year: z.int() });
const filmPrompt = 'The film "Alien" of 1979 is sad';
const film = { title: "Alien", mood: "sad", year: 1979 };

describe.each(replySources)("with replies of the %s", (kind) => {
  test("@ai-sdk/openai: tools in steps, a stream, and an object", async () => {
    const model = createOpenAI({ apiKey: "any", baseURL: await startRouterWith(kind) })("auto");
    const get_weather = tool({
      description: "Weather of a city",
      inputSchema: citySchema,
      execute: ({ city }) => Promise.resolve(`rain in ${city}`),
    });
    const options = { model, prompt: question, tools: { get_weather }, stopWhen: isStepCount(3) };
    expect((await generateText(options)).text).toContain("rain in Paris");
    const streamed = streamText(options);
    expect(await streamed.text).toContain("rain in Oslo");
    expect((await streamed.totalUsage).outputTokens).toBeGreaterThan(0);
    const output = Output.object({ schema: filmSchema });
    expect((await generateText({ model, prompt: filmPrompt, output })).output).toEqual(film);
  });

  test("LangChain: tools, their results, structured output and a stream", async () => {
    const configuration = { baseURL: await startRouterWith(kind) };
    const model = new ChatOpenAI({
      apiKey: "any",
      model: "auto",
      configuration,
      useResponsesApi: true,
    });
    const get_weather = langchainTool(({ city }: { city: string }) => `rain in ${city}`, {
      name: "get_weather",
      description: "Weather of a city",
      schema: citySchema,
    });
    const withTools = model.bindTools([get_weather]);
    const asked = new HumanMessage(question);
    const calling = await withTools.invoke([asked]);
    const calls = calling.tool_calls ?? [];
    expect(calls.map(({ args }) => args)).toEqual([{ city: "Paris" }, { city: "Oslo" }]);
    const results = await Promise.all(
      calls.map(async ({ id, args }) => {
        const content = await get_weather.invoke(args as { city: string });
        return new ToolMessage({ tool_call_id: id ?? "", content });
      }),
    );
    expect((await withTools.invoke([asked, calling, ...results])).text).toContain("rain in Paris");
    expect(await model.withStructuredOutput(filmSchema).invoke(filmPrompt)).toEqual(film);
    let streamed = "";
    for await (const { text } of await model.stream("hi")) streamed += text;
    expect(streamed).toContain("not from a language model");
  });
});
