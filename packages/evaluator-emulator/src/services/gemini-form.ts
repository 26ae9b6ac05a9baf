import * as z from "zod/mini";
import { parseBody } from "../call.ts";
import { mapped, mapRecord, toRecord } from "../json.ts";
import { joinParts } from "../questions/content.ts";
import { type JudgedAnswer, toKind, questionsSchema } from "../questions/kinds/kinds.ts";
import { geminiPartSchema, geminiTextSchema, textOrParts } from "../questions/parts.ts";
import type { Form } from "./form.ts";

const text = z.string().check(z.minLength(1));
const isId = (id: string) => id !== "" && id.trim() === id && !/\p{Cc}/u.test(id);

/** Google requires instructions, and descriptions that are texts. */
const questionSchema = z.object({
  type: z.string(),
  instructions: mapped(
    z.union([textOrParts(geminiTextSchema), mapped(geminiTextSchema, (part) => [part])]),
    (parts) => joinParts(parts).state,
  ),
  criteria: z.optional(
    z.union([
      z.array(text),
      toRecord(text).check(z.refine((options) => Object.keys(options).every(isId))),
    ]),
  ),
});
const bodySchema = z.object({
  model: z.string(),
  input: z.union([textOrParts(geminiPartSchema), mapped(geminiPartSchema, (part) => [part])]),
  questions: toRecord(questionSchema),
});
const mapSchema = z.object({ questions: questionsSchema("gemini") });

/** Google's form; its answer names no model. */
export const geminiForm: Form = (requestBody) => {
  const { model, input, questions: plain } = parseBody(bodySchema, requestBody);
  const { questions } = parseBody(mapSchema, { questions: plain });
  return {
    model,
    input: { ...joinParts(input), questions },
    toBody: ({ answers, usage: { inputTokens, outputTokens } }) => ({
      answers: mapRecord(answers, (answer, questionId) => {
        const judgedAnswer = withinBounds(answer);
        const shares = Object.values(judgedAnswer.probabilities);
        const all = toKind(answer).isDistribution ? shares : [...shares, 1 - (shares[0] ?? 0)];
        const confidence = Math.max(...all);
        return Object.assign(toKind(answer).toVendor(judgedAnswer, questions[questionId]), {
          confidence,
        });
      }),
      usage: {
        total_input_tokens: inputTokens,
        total_output_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
      },
    }),
  };
};

/** Google's probability of yes is 0.01 to 0.99. */
function withinBounds(answer: JudgedAnswer): JudgedAnswer {
  if (toKind(answer).isDistribution) return answer;
  return { ...answer, probabilities: mapRecord(answer.probabilities, bound) };
}

function bound(share: number): number {
  return Math.min(0.99, Math.max(0.01, share));
}
