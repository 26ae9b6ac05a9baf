import * as z from "zod/mini";
import { parseBody } from "../call.ts";
import { isJsonRecord, mapped, mapRecord } from "../json.ts";
import { type Content, contentSchema, joinParts } from "../questions/content.ts";
import type { EvaluationInput } from "../questions/evaluation-input.ts";
import { toKind, questionsSchema } from "../questions/kinds/kinds.ts";
import { dataUrlSchema } from "../questions/parts.ts";
import type { Form } from "./form.ts";

type State = Pick<EvaluationInput, "state" | "images">;

const questionBodySchema = z.object({
  model: z.nullish(z.string()),
  questions: questionsSchema("vendor"),
});

/** Returns the vendor's form; services differ in the place of images. */
export function systemOneForm(readState: (requestBody: unknown) => State = readPlainState): Form {
  return (requestBody) => {
    const { model = null, questions } = parseBody(questionBodySchema, requestBody);
    return {
      model,
      input: { ...readState(requestBody), questions },
      toBody: ({ answers, usage }, answering) => ({
        model: answering,
        answers: mapRecord(answers, (judgedAnswer, questionId) =>
          toKind(judgedAnswer).toVendor(judgedAnswer, questions[questionId]),
        ),
        usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
      }),
    };
  };
}

const stateSchema = z.object({ state: contentSchema });

function readPlainState(requestBody: unknown): State {
  return parseBody(stateSchema, requestBody);
}

const imageListSchema = z.object({
  state: contentSchema,
  images: z.optional(z.array(dataUrlSchema).check(z.maxLength(4))),
});

/** Reads images of a list beside the state, as Cloudflare takes them. */
export function readImageList(requestBody: unknown): State {
  const { state, images = [] } = parseBody(imageListSchema, requestBody);
  return { state, ...(images.length > 0 && { images }) };
}

const imagePartSchema = mapped(
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: dataUrlSchema }) }),
  ({ image_url: { url: image } }) => ({ image }),
);
const partsSchema = z.object({ images: z.array(imagePartSchema).check(z.maxLength(8)) });

/** Reads images among the parts of a list, as Perplexity takes them. */
export function readImageParts(requestBody: unknown): State {
  const { state } = readPlainState(requestBody);
  const parts: readonly unknown[] = Array.isArray(state) ? state : [];
  const foundItems = parts.filter(
    (statePart) => isJsonRecord(statePart) && statePart["type"] === "image_url",
  );
  if (foundItems.length === 0) return { state };
  const others = parts.filter((statePart) => !foundItems.includes(statePart));
  const contents = others.map((content) => ({ content: content as Content }));
  return joinParts([...contents, ...parseBody(partsSchema, { images: foundItems }).images]);
}
