import * as z from "zod/mini";
import { parseBody } from "../call.ts";
import { mapped } from "../json.ts";
import { joinParts } from "../questions/content.ts";
import { decisionOption } from "../questions/kinds/choice.ts";
import type { DecisionLabel } from "../questions/kinds/kind.ts";
import { type JudgedAnswer, toKind, questionsSchema } from "../questions/kinds/kinds.ts";
import { decisionsPartSchema, textOrParts } from "../questions/parts.ts";
import type { Form } from "./form.ts";

const partsSchema = textOrParts(decisionsPartSchema);
const anyTextSchema = mapped(z.string(), (contentText) => [{ content: contentText }]);

/** A message, or a call of a tool and its output, which may be empty. */
const itemSchema = mapped(
  z.object({
    content: z.optional(partsSchema),
    output: z.optional(z.union([anyTextSchema, partsSchema])),
    arguments: z.optional(z.string()),
    input: z.optional(z.string()),
  }),
  ({ content, output, arguments: givenText, input = "" }) =>
    content ?? output ?? [{ content: givenText ?? input }],
);

const description = z.nullish(z.string());
const questionSchema = z.object({
  type: z.string(),
  name: z.nullish(z.string()),
  instructions: mapped(partsSchema, (parts) => joinParts(parts).state),
  choices: z.optional(
    z.array(z.object({ value: z.union([z.string(), z.boolean()]), description })),
  ),
  levels: z.optional(z.array(z.object({ label: z.string(), description }))),
});

const bodySchema = z.object({
  model: z.nullish(z.string()),
  input: z.union([
    anyTextSchema,
    mapped(z.array(itemSchema).check(z.minLength(1)), (items) => items.flat()),
  ]),
  questions: z.array(questionSchema),
});
const mapSchema = z.object({ questions: questionsSchema("decisions") });

/** OpenAI's form: a list of answers, each with its question's name, which is its id if all differ. */
export const decisionsForm: Form = (requestBody) => {
  const { model = null, input, questions: list } = parseBody(bodySchema, requestBody);
  const names = list.map(({ name = null }) => name);
  const isNamed = new Set(names).size === names.length && !names.includes(null);
  const askedItems = list.map((question, at) => {
    const { name = null } = question;
    const questionId = isNamed && name !== null ? name : String(at);
    return Object.assign({ id: questionId, name }, readCriteria(question));
  });
  const entries = askedItems.map(({ id, question }) => [id, question]);
  const { questions } = parseBody(mapSchema, { questions: Object.fromEntries(entries) });
  return {
    model,
    input: { ...joinParts(input), questions },
    toBody: ({ answers, usage: { inputTokens, outputTokens } }, answering) => ({
      model: answering,
      answers: askedItems.map(({ id, name, labels }) => {
        const judgedAnswer = answers[id] as JudgedAnswer;
        return Object.assign({ name }, toKind(judgedAnswer).toDecision(judgedAnswer, labels));
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

/** Returns a question with its criteria as the vendor's form has them, and the labels of its answer. */
function readCriteria({ type, instructions, choices, levels }: z.infer<typeof questionSchema>) {
  const values: DecisionLabel[] = choices?.map(({ value }) => value) ?? [];
  const options = choices?.map((choice) => [
    decisionOption(choice.value, values),
    choice.description ?? null,
  ]);
  const describedNames = levels?.map((level) =>
    level.description ? `${level.label}: ${level.description}` : level.label,
  );
  // Choices that are equal are rejected by the number of options.
  const isDistinct = new Set(values).size === values.length;
  const criteria =
    options === undefined ? describedNames : Object.fromEntries(isDistinct ? options : []);
  const labels = levels?.map(({ label }) => label) ?? values;
  return { question: { type, instructions, criteria }, labels };
}
