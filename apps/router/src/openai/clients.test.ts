import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, jsonSchema, Output, streamText, tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { replySources, startRouterWith } from "../testing/test-router.ts";

const weatherParameters = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"],
  additionalProperties: false,
};
const question = "What is the weather in Paris and Oslo?";
const filmSchema = z.object({ title: z.string(), mood: z.enum(["glad", "sad"]), year: z.int() });
const filmPrompt = 'The film "Alien" of 1979 is sad';
const film = { title: "Alien", mood: "sad", year: 1979 };

test.each(replySources)(
  "ai with replies of the %s: tools in steps, a stream, and an object",
  async (kind) => {
    const baseURL = await startRouterWith(kind);
    const model = createOpenAICompatible({
      name: "router",
      baseURL,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })("auto");
    const get_weather = tool({
      description: "Weather of a city",
      inputSchema: jsonSchema<{ city: string }>(weatherParameters),
      execute: async ({ city }) => `rain in ${city}`,
    });
    const options = { model, prompt: question, tools: { get_weather }, stopWhen: isStepCount(3) };
    expect((await generateText(options)).text).toContain("rain in Paris");
    const streamed = streamText(options);
    expect(await streamed.text).toContain("rain in Oslo");
    expect((await streamed.totalUsage).outputTokens).toBeGreaterThan(0);
    const output = Output.object({ schema: filmSchema });
    expect((await generateText({ model, prompt: filmPrompt, output })).output).toEqual(film);
  },
);
