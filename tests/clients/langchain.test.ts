import { tool } from "@langchain/core/tools";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { expect, test } from "vitest";
import { z } from "zod";
import { replySources, startRouterWith } from "../../apps/router/src/testing/test-router.ts";

const filmSchema = z.object({ title: z.string(), mood: z.enum(["glad", "sad"]), year: z.int() });

test.each(replySources)(
  "with replies of the %s: tools, their results, structured output and a stream",
  async (kind) => {
    const configuration = { baseURL: await startRouterWith(kind) };
    const model = new ChatOpenAI({ apiKey: "any", model: "auto", configuration });
    const get_weather = tool(({ city }: { city: string }) => `rain in ${city}`, {
      name: "get_weather",
      description: "Weather of a city",
      schema: z.object({ city: z.string() }),
    });
    const withTools = model.bindTools([get_weather]);
    const asked = new HumanMessage("What is the weather in Paris and Oslo?");
    const calling = await withTools.invoke([asked]);
    expect(calling.tool_calls?.map(({ args }) => args)).toEqual([
      { city: "Paris" },
      { city: "Oslo" },
    ]);
    const results = await Promise.all(
      (calling.tool_calls ?? []).map(async ({ id, args }) => {
        const content = await get_weather.invoke(args as { city: string });
        return new ToolMessage({ tool_call_id: id ?? "", content });
      }),
    );
    expect((await withTools.invoke([asked, calling, ...results])).text).toContain("rain in Paris");
    expect(
      await model.withStructuredOutput(filmSchema).invoke('The film "Alien" of 1979 is sad'),
    ).toEqual({ title: "Alien", mood: "sad", year: 1979 });
    let streamed = "";
    for await (const { text } of await model.stream("hi")) streamed += text;
    expect(streamed).toContain("not from a language model");
  },
);
