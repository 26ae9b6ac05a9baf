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
export function systemOneForm(readState: (body: unknown) => State = readPlainState): Form {
  return (body) => {
    const { model = null, questions } = parseBody(questionBodySchema, body);
    return {
      model,
      input: { ...readState(body), questions },
      toBody: ({ answers, usage }, answering) => ({
        model: answering,
        answers: mapRecord(answers, (answer, id) => toKind(answer).toVendor(answer, questions[id])),
        usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
      }),
    };
  };
}

const stateSchema = z.object({ state: contentSchema });

function readPlainState(body: unknown): State {
  return parseBody(stateSchema, body);
}

const imageListSchema = z.object({
  state: contentSchema,
  images: z.optional(z.array(dataUrlSchema).check(z.maxLength(4))),
});

/** Reads images of a list beside the state, as Cloudflare takes them. */
export function readImageList(body: unknown): State {
  const { state, images = [] } = parseBody(imageListSchema, body);
  return { state, ...(images.length > 0 && { images }) };
}

const imagePartSchema = mapped(
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: dataUrlSchema }) }),
  ({ image_url: { url: image } }) => ({ image }),
);
const partsSchema = z.object({ images: z.array(imagePartSchema).check(z.maxLength(8)) });

/** Reads images among the parts of a list, as Perplexity takes them. */
export function readImageParts(body: unknown): State {
  const { state } = readPlainState(body);
  const parts: readonly unknown[] = Array.isArray(state) ? state : [];
  const foundItems = parts.filter((part) => isJsonRecord(part) && part["type"] === "image_url");
  if (foundItems.length === 0) return { state };
  const others = parts.filter((part) => !foundItems.includes(part));
  const contents = others.map((content) => ({ content: content as Content }));
  return joinParts([...contents, ...parseBody(partsSchema, { images: foundItems }).images]);
}
