import { createAnthropic } from "@ai-sdk/anthropic";
import { APICallError, generateText, isStepCount, jsonSchema, Output, streamText, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  replySources,
  startRouterWith,
  startTestRouter,
} from "../../apps/router/src/testing/test-router.ts";

const question = "What is the weather in Paris and Oslo?";
const get_weather = tool({
  description: "Weather of a city",
  inputSchema: jsonSchema<{ city: string }>({
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  }),
  execute: async ({ city }) => `rain in ${city}`,
});

function modelAt(baseURL: string, name = "claude-sonnet-4-5") {
  return createAnthropic({ apiKey: "any", baseURL })(name);
}

describe.each(replySources)("@ai-sdk/anthropic with replies of the %s", (kind) => {
  test("parallel tools in steps, whole and streamed", async () => {
    const model = modelAt(await startRouterWith(kind));
    const options = { model, prompt: question, tools: { get_weather }, stopWhen: isStepCount(3) };
    const { text, steps } = await generateText(options);
    expect(steps[0]?.toolCalls.map(({ input }) => input)).toEqual([
      { city: "Paris" },
      { city: "Oslo" },
    ]);
    expect(text).toContain("rain in Paris");
    const streamed = streamText(options);
    expect(await streamed.text).toContain("rain in Oslo");
    expect(await streamed.finishReason).toBe("stop");
    expect((await streamed.totalUsage).outputTokens).toBeGreaterThan(0);
  });

  test("an object by a schema", async () => {
    const model = modelAt(await startRouterWith(kind));
    const schema = z.object({ title: z.string(), mood: z.enum(["glad", "sad"]), year: z.int() });
    const prompt = 'The film "Alien" of 1979 is sad';
    const { output } = await generateText({ model, prompt, output: Output.object({ schema }) });
    expect(output).toEqual({ title: "Alien", mood: "sad", year: 1979 });
  });
});

test("an error of the API is the package's own, with its message", async () => {
  const { origin } = await startTestRouter();
  const model = modelAt(`${origin}/v1`, "gpt-99");
  const error: unknown = await generateText({ model, prompt: "hi" }).catch((thrown) => thrown);
  expect(APICallError.isInstance(error)).toBe(true);
  const message = expect.stringContaining("use auto, nano") as string;
  expect(error).toMatchObject({ statusCode: 404, message });
});
