import * as z from "zod/mini";
import { mapped } from "../../json.ts";
import {
  matchCriteria,
  type Opinion,
  profileText,
  type TextProfile,
} from "../../judge/evidence.ts";
import { contentSchema, contentText } from "../content.ts";
import { instructionsSchema, type Kind, type PrintedAnswer, type Wire } from "./kind.ts";

const names = {
  gateway: "boolean",
  vendor: "noul",
  decisions: "predicate",
  gemini: "noul",
} as const;

const meaning = z.nullish(contentSchema);
const criteriaSchema = mapped(
  z.nullish(z.object({ true: meaning, false: meaning })),
  (criteria) => ({ true: criteria?.true ?? null, false: criteria?.false ?? null }),
);
const geminiCriteriaSchema = mapped(
  z.optional(z.object({ true_description: meaning, false_description: meaning })),
  (criteria) => ({
    true: criteria?.true_description ?? null,
    false: criteria?.false_description ?? null,
  }),
);

const questionSchema = (wireForm: Wire) =>
  z
    .object({
      type: mapped(z.literal(names[wireForm]), () => "boolean" as const),
      instructions: instructionsSchema,
      criteria: wireForm === "gemini" ? geminiCriteriaSchema : criteriaSchema,
    })
    .check(
      z.refine(
        ({ instructions, criteria }) => (instructions ?? criteria.true ?? criteria.false) !== null,
        "expected instructions, or a description of yes or no",
      ),
    );

type BooleanInput = z.infer<ReturnType<typeof questionSchema>>;

/** A yes/no question; its answer has no confidence (contract section 2.4). */
export const boolean: Kind<BooleanInput> = {
  names,
  isDistribution: false,
  question: questionSchema,
  answer: z.union([
    mapped(
      z.object({ type: z.literal(names.gateway), probability: z.number() }),
      ({ probability }) => toAnswer(probability),
    ),
    mapped(z.object({ type: z.literal(names.vendor), noul: z.number() }), ({ noul }) =>
      toAnswer(noul),
    ),
  ]),
  fromPrompt({ instructions, proposedText }) {
    if (proposedText === null) return null;
    const [same, other] = proposedText === "yes" ? ["yes", "no"] : ["no", "yes"];
    const labels = [
      { label: "yes", stands: [same] },
      { label: "no", stands: [other] },
    ];
    return { question: toQuestion(instructions), labels };
  },
  namesOf: () => ["yes"],
  judge({ instructions, criteria }, stateProfile) {
    const yesText = `${contentText(instructions)}, ${contentText(criteria.true)}`;
    const yes = profileText(yesText, "criterion");
    const no = profileText(contentText(criteria.false), "criterion");
    if (criteria.true !== null && criteria.false !== null) {
      const [forYes = 0, forNo = 0] = matchCriteria([yes, no], stateProfile);
      return cappedOpinion(forYes - forNo, forYes !== forNo);
    }
    const evidence = evidenceFor(stateProfile, yes) - evidenceFor(stateProfile, no);
    // A question about a known concept leans to no if the state shows none of it.
    const knowsConcept = yes.concepts.size > 0 && stateProfile.words.size > 0;
    const prior = knowsConcept ? priorLogit : 0;
    return cappedOpinion(prior + evidence, knowsConcept || evidence !== 0);
  },
  confidenceOf: () => null,
  valueOf: () => null,
  toGateway: ({ probabilities: { yes } }) => ({
    type: names.gateway,
    probability: yes,
  }),
  toVendor: ({ probabilities: { yes } }) => ({ type: names.vendor, noul: yes }),
  toDecision: ({ probabilities: { yes } }) => ({
    type: names.decisions,
    probability: yes,
  }),
};

function toQuestion(instructions: string): BooleanInput {
  return { type: "boolean", instructions, criteria: { true: null, false: null } };
}

function toAnswer(yesShare: number): PrintedAnswer {
  return { value: null, probabilities: { yes: yesShare }, confidence: null };
}

// Chosen, so that a stand-in is not mistaken for a model that is sure.
const lowestYes = 0.2;
const highestYes = 0.8;
// Chosen: no sign of a concept gives 0.25, one 0.55, two 0.72, and a shared word less.
// With half the prior or half the weight of a concept a mail of judge.test.ts is misjudged, with
// twice none.
const priorLogit = -1.1;
const conceptLogit = 1.3;
const wordLogit = 0.5;

function evidenceFor(stateProfile: TextProfile, criterion: TextProfile): number {
  const strengths = [...criterion.concepts.keys()].map(
    (name) => stateProfile.concepts.get(name) ?? 0,
  );
  const sharedWords = [...criterion.words].filter((word) => stateProfile.words.has(word)).length;
  return conceptLogit * Math.max(0, ...strengths) + wordLogit * Math.log2(1 + sharedWords);
}

function cappedOpinion(logit: number, isInformed: boolean): Opinion {
  const yesShare = 1 / (1 + Math.exp(-logit));
  const cappedValue = Math.min(highestYes, Math.max(lowestYes, yesShare));
  return { probabilities: [isInformed ? cappedValue : 0.5], isInformed };
}
