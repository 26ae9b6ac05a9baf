import { z } from "zod";
import type { JudgedAnswer, Judgement } from "../answers/judgement.ts";
import { lexicalModel } from "../basis.ts";
import { joinContents } from "../questions/content.ts";
import { imageUrlSchema } from "../questions/images.ts";
import type { EvaluationInput, QuestionInput } from "../questions/question.ts";

const named = { name: z.string(), instructions: z.string() };
const questionSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("predicate"), ...named }),
  z.object({
    type: z.literal("choice"),
    ...named,
    choices: z
      .array(z.object({ value: z.string(), description: z.string().optional() }))
      .min(1)
      .max(255),
  }),
  z.object({
    type: z.literal("score"),
    ...named,
    levels: z
      .array(z.object({ label: z.string() }))
      .min(1)
      .max(10),
  }),
]);
const messageSchema = z.object({
  role: z.literal("user"),
  content: z.union([
    z.string(),
    z.array(
      z.discriminatedUnion("type", [
        z.object({ type: z.literal("input_text"), text: z.string() }),
        z.object({ type: z.literal("input_image"), image_url: imageUrlSchema }),
      ]),
    ),
  ]),
});
const bodySchema = z.object({
  input: z.union([z.string(), z.array(messageSchema).min(1)]),
  questions: z.array(questionSchema).min(1),
});

/** A request of OpenAI's decisions form, its body read. */
export interface DecisionsRequest {
  readonly input: EvaluationInput;
  readonly questions: z.infer<typeof bodySchema>["questions"];
}

/** Reads a body of the decisions form, or returns null when it is none. */
export function parseDecisions(body: unknown): DecisionsRequest | null {
  const { data } = bodySchema.safeParse(body);
  if (data === undefined) return null;
  const questions = Object.fromEntries(
    data.questions.map((question, index) => [String(index), toQuestion(question)]),
  );
  return { input: { ...readInput(data.input), questions }, questions: data.questions };
}

function readInput(
  input: z.infer<typeof bodySchema>["input"],
): Pick<EvaluationInput, "state" | "images"> {
  if (typeof input === "string") return { state: input };
  const parts = input.flatMap(({ content }) =>
    typeof content === "string" ? [{ type: "input_text" as const, text: content }] : content,
  );
  const texts = parts.flatMap((part) => (part.type === "input_text" ? [part.text] : []));
  const images = parts.flatMap((part) => (part.type === "input_image" ? [part.image_url] : []));
  return { state: joinContents(texts), ...(images.length > 0 && { images }) };
}

function toQuestion(question: DecisionsRequest["questions"][number]): QuestionInput {
  const { instructions } = question;
  if (question.type === "predicate") {
    return { type: "boolean", instructions, criteria: { true: null, false: null } };
  }
  if (question.type === "score") {
    return { type: "score", instructions, criteria: question.levels.map(({ label }) => label) };
  }
  const options = question.choices.map(({ value, description }) => [value, description ?? null]);
  return { type: "choice", instructions, criteria: Object.fromEntries(options) };
}

/** Returns the answers in the decisions form: a list, each under its question's name. */
export function decisionsBody({ questions }: DecisionsRequest, judgement: Judgement) {
  const { answers, usage } = judgement;
  return {
    model: lexicalModel,
    answers: questions.map((question, index) => {
      return { name: question.name, ...toDecision(answers[index] as JudgedAnswer, question) };
    }),
    usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
  };
}

function toDecision(answer: JudgedAnswer, question: DecisionsRequest["questions"][number]): object {
  if (answer.type === "boolean") return { type: "predicate", probability: answer.probability };
  const probabilities = Object.entries(answer.probabilities);
  if (question.type === "score") {
    const levels = probabilities.map(([level, probability]) => {
      return { value: Number(level), label: question.levels[Number(level)]?.label, probability };
    });
    return { ...answer, probabilities: levels };
  }
  const options = probabilities.map(([value, probability]) => ({ value, probability }));
  return { ...answer, probabilities: options };
}
