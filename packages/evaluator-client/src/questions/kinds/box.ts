import * as z from "zod/mini";
import { checkProbability, frozenCopy, probability } from "../json.ts";
import { type Wording, wordingSchema } from "../wording.ts";
import type { KindOf } from "./kind.ts";

/** A question for the place of a thing in an image; the vendor's API takes it (its model 1.14, third parties' clients). */
export const boxQuestionSchema = /* @__PURE__ */ (() =>
  z.strictObject({ type: z.literal("box"), instructions: wordingSchema() }))();
/** See {@link boxQuestionSchema}. */
export interface BoxQuestion {
  readonly type: "box";
  /** The thing to find. */
  readonly instructions: Wording;
  readonly criteria?: undefined;
}

/** The edges of a box, each a fraction 0..1 of the image from its top left. */
export type Box = Record<"top" | "left" | "bottom" | "right", number>;

/** The answer to a box question: the place of the thing. */
export const boxAnswerSchema = /* @__PURE__ */ (() =>
  z.looseObject({
    type: z.literal("box"),
    box: z.record(z.enum(["top", "left", "bottom", "right"]), probability()),
    confidence: z.nullable(probability()),
  }))();
/** See {@link boxAnswerSchema}. */
export interface BoxAnswer {
  type: "box";
  box: Box;
  /** The service's confidence, 0..1, or null. */
  confidence: number | null;
}

/**
 * Builds a question for the place of a thing in the image of the state.
 * @example
 * ```ts
 * box("the coffee mug");
 * ```
 */
export function box(thing: Wording): BoxQuestion {
  return frozenCopy({ type: "box", instructions: thing });
}

const wrongEdges = {
  rule: "box-edges",
  what: "has a box whose edges are not fractions of the image, top above bottom and left before right",
} as const;

/** The kind `box`. */
export const boxKind = {
  questionSchema: boxQuestionSchema,
  answerSchema: boxAnswerSchema,
  limit: null,
  hasConfidence: false,
  needsImage: true,
  keys: () => [],
  check(_, answer) {
    const { data } = boxAnswerSchema.shape.box.safeParse(answer["box"]);
    if (data === undefined || data.top > data.bottom || data.left > data.right) return wrongEdges;
    return answer["confidence"] === null ? null : checkProbability(answer["confidence"]);
  },
  values: () => [
    { name: "top", form: "number", most: 1, of: ({ box: { top } }) => top },
    {
      name: "left",
      form: "number",
      most: 1,
      of: ({ box: { left: remainingCount } }) => remainingCount,
    },
    { name: "bottom", form: "number", most: 1, of: ({ box: { bottom } }) => bottom },
    { name: "right", form: "number", most: 1, of: ({ box: { right } }) => right },
  ],
  truths: (_question) => null,
} satisfies KindOf<BoxQuestion, BoxAnswer>;
