import * as z from "zod/mini";
import { parseBody } from "../call.ts";
import { mapped, mapRecord, recordOf } from "../json.ts";
import { joinParts } from "../questions/content.ts";
import { allKinds, kindOf, type QuestionInput } from "../questions/kinds/kinds.ts";
import { geminiPartSchema } from "../questions/parts.ts";
import type { Form } from "./form.ts";

const questionSchema = z.union(allKinds.map(({ gemini }) => gemini.question));
const bodySchema = z.object({
  model: z.string(),
  input: z.union([
    mapped(z.string(), (content) => [{ content }]),
    mapped(geminiPartSchema, (part) => [part]),
    z.array(geminiPartSchema).check(z.minLength(1)),
  ]),
  questions: recordOf(questionSchema),
});

/** Google's form; its answer names no model. */
export const geminiForm: Form = (body) => {
  const { model, input, questions } = parseBody(bodySchema, body);
  return {
    model,
    input: { ...joinParts(input), questions },
    toBody: ({ answers, usage: { inputTokens, outputTokens } }) => ({
      answers: mapRecord(answers, (answer, id) =>
        kindOf(answer).gemini.toAnswer(answer, questions[id] as QuestionInput),
      ),
      usage: {
        total_input_tokens: inputTokens,
        total_output_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
      },
    }),
  };
};
