import * as z from "zod/mini";
import { parseBody } from "../call.ts";
import { mapped } from "../json.ts";
import { joinParts } from "../questions/content.ts";
import { allKinds, type JudgedAnswer, kindOf } from "../questions/kinds/kinds.ts";
import { decisionsPartSchema } from "../questions/parts.ts";
import type { Form } from "./form.ts";

const partsSchema = z.union([
  mapped(z.string(), (content) => [{ content }]),
  z.array(decisionsPartSchema),
]);

const itemSchema = z.union([
  mapped(
    z.object({ role: z.enum(["user", "developer", "system", "assistant"]), content: partsSchema }),
    ({ content }) => content,
  ),
  mapped(
    z.object({
      type: z.enum(["function_call_output", "custom_tool_call_output"]),
      output: partsSchema,
    }),
    ({ output }) => output,
  ),
  mapped(
    z.object({ type: z.literal("function_call"), name: z.string(), arguments: z.string() }),
    ({ name, arguments: input }) => [{ content: [name, input] }],
  ),
  mapped(
    z.object({ type: z.literal("custom_tool_call"), name: z.string(), input: z.string() }),
    ({ name, input }) => [{ content: [name, input] }],
  ),
]);

const bodySchema = z.object({
  model: z.nullish(z.string()),
  input: z.union([
    mapped(z.string(), (content) => [{ content }]),
    mapped(z.array(itemSchema).check(z.minLength(1)), (items) => items.flat()),
  ]),
  questions: z
    .array(z.union(allKinds.map(({ decisions }) => decisions.question)))
    .check(z.minLength(1)),
});

/** OpenAI's form: a list of answers, each with its question's name, which is its id if all differ. */
export const decisionsForm: Form = (body) => {
  const { model = null, input, questions: asked } = parseBody(bodySchema, body);
  const names = asked.map(({ name }) => name);
  const isNamed = new Set(names).size === names.length && !names.includes(null);
  const ids = names.map((name, at) => (isNamed && name !== null ? name : String(at)));
  return {
    model,
    input: {
      ...joinParts(input),
      questions: Object.fromEntries(asked.map(({ question }, at) => [ids[at], question])),
    },
    toBody: ({ answers, usage: { inputTokens, outputTokens } }, answering) => ({
      model: answering,
      answers: asked.map((each, at) => {
        const answer = answers[ids[at] ?? ""] as JudgedAnswer;
        return Object.assign({ name: each.name }, kindOf(answer).decisions.toAnswer(answer, each));
      }),
      usage: {
        input_tokens: inputTokens,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: outputTokens,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: inputTokens + outputTokens,
      },
    }),
  };
};
