import { z } from "zod";
import { basisHeader, lexicalModel } from "../answers/judgement.ts";
import { type Call, type EmulatorContext, readJson, RequestError } from "../call.ts";
import { joinContents } from "../questions/content.ts";
import type { EvaluationInput } from "../questions/evaluation-input.ts";
import { imageUrlSchema } from "../questions/images.ts";
import { decisionSchema, type JudgedAnswer, kindOf } from "../questions/kinds/kinds.ts";

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
  questions: z.array(decisionSchema).min(1),
});

/** Answers one request in OpenAI's decisions form: a list of answers, each with its question's name. */
export async function decisionsRoute(call: Call, context: EmulatorContext): Promise<Response> {
  const { data } = bodySchema.safeParse(await readJson(call));
  if (data === undefined) {
    throw new RequestError(
      "Expected input and a list of predicate, choice or score questions.",
      422,
    );
  }
  const questions = Object.fromEntries(
    data.questions.map(({ question }, index) => [String(index), question]),
  );
  const judgement = context.answer({ ...readInput(data.input), questions });
  const { inputTokens: input_tokens, outputTokens: output_tokens } = judgement.usage;
  const body = {
    model: lexicalModel,
    answers: data.questions.map(({ name, question }, index) => {
      const answer = judgement.answers[index] as JudgedAnswer;
      return kindOf(question).toDecision(name, answer, question);
    }),
    usage: { input_tokens, output_tokens },
  };
  return Response.json(body, { headers: basisHeader(judgement.basis) });
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
