import * as z from "zod/mini";
import { mapped } from "../../json.ts";
import { contentSchema } from "../content.ts";
import type { Kind, PrintedAnswer } from "./kind.ts";

/** Each a fraction of the image from its top left. */
const edges = ["top", "left", "bottom", "right"] as const;

const fraction = z.number().check(z.minimum(0), z.maximum(1));

const questionSchema = mapped(
  z.object({ type: z.literal("box"), instructions: contentSchema }),
  (question) => ({ ...question, criteria: {} }),
);

/** A question for the place of a thing in an image: the vendor's, and no other form's. */
export const box: Kind<z.infer<typeof questionSchema>> = {
  names: { gateway: null, vendor: "box", decisions: null, gemini: null },
  isDistribution: false,
  numbers: edges,
  needsImage: true,
  question: () => questionSchema,
  answer: mapped(
    z.object({
      type: z.literal("box"),
      box: z.object({ top: fraction, left: fraction, bottom: fraction, right: fraction }),
      confidence: z.nullish(z.number()),
    }),
    ({ box: probabilities, confidence = null }): PrintedAnswer => {
      return { value: null, probabilities, confidence };
    },
  ),
  fromPrompt: () => null,
  namesOf: () => edges,
  // The middle of the image, which is not looked at.
  judge: () => ({ probabilities: [0.25, 0.25, 0.75, 0.75], isInformed: false }),
  confidenceOf: ({ isInformed }) => (isInformed ? 1 : 0),
  valueOf: () => null,
  toGateway: print,
  toVendor: print,
  toDecision: print,
};

function print({ probabilities, confidence }: PrintedAnswer) {
  return { type: "box", box: probabilities, ...(confidence !== null && { confidence }) };
}
