import * as z from "zod/mini";
import { frozenCopy, probability } from "../json.ts";
import type { KindOf } from "./kind.ts";

/** A question for the place of a thing in an image; the vendor's API takes it (its model 1.14, third parties' clients). */
export const boxQuestionSchema = /* @__PURE__ */ (() =>
  z.strictObject({ type: z.literal("box"), instructions: z.string() }))();
/** See {@link boxQuestionSchema}. */
export interface BoxQuestion {
  readonly type: "box";
  /** The thing to find. */
  readonly instructions: string;
  readonly criteria?: undefined;
}

const edges = ["top", "left", "bottom", "right"] as const;

/** The edges of a box, each a fraction 0..1 of the image from its top left. */
export type Box = Record<(typeof edges)[number], number>;

/** The answer to a box question: the place of the thing. */
export const boxAnswerSchema = /* @__PURE__ */ (() =>
  z.looseObject({
    type: z.literal("box"),
    box: z.object({
      top: probability(),
      left: probability(),
      bottom: probability(),
      right: probability(),
    }),
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
export function box(thing: string): BoxQuestion {
  return frozenCopy({ type: "box", instructions: thing });
}

const wrongEdges = {
  rule: "box-edges",
  what: "has a box whose edges are not fractions of the image, top above bottom and left before right",
} as const;
const wrongConfidence = {
  rule: "box-confidence",
  what: "has a confidence that is not a number from 0 to 1",
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
    const schema = boxAnswerSchema.shape.box;
    const { data } = schema.safeParse(answer["box"]);
    if (data === undefined || data.top > data.bottom || data.left > data.right) return wrongEdges;
    const confidence = answer["confidence"] ?? null;
    const isShare = typeof confidence === "number" && confidence >= 0 && confidence <= 1;
    return confidence === null || isShare ? null : wrongConfidence;
  },
  values: () => {
    const [top, left, bottom, right] = edges.map(
      (name) => ({ name, form: "number", most: 1, of: (one: BoxAnswer) => one.box[name] }) as const,
    ) as [Edge, Edge, Edge, Edge];
    return [top, left, bottom, right];
  },
  truths: (_question) => null,
} satisfies KindOf<BoxQuestion, BoxAnswer>;

interface Edge {
  readonly name: string;
  readonly form: "number";
  readonly most: number;
  of(this: void, answer: BoxAnswer): number;
}
