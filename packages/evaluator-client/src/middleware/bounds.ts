import * as z from "zod/mini";
import type { Evaluation } from "../evaluation.ts";
import { checkOptions, optionsObject, rejectOption } from "../options.ts";
import { toRecord } from "../questions/json.ts";
import { type Answer, type Question, questionKinds, type Questions } from "../questions/kinds.ts";
import { perQuestions } from "../questions/request.ts";
import { isStateCut } from "../transports/direct/cut-state.ts";

/** The parts of an artifact of `evaluator-calibration` that decide whether an answer may be acted on. */
export interface PromiseArtifact {
  readonly model: { readonly id: string | null };
  /** The hash of all questions of the request. */
  readonly questionHash: string | null;
  /** `action` is `yes`, `no`, or `top` for the most probable option or level; `threshold` is 0 to 1. */
  readonly thresholds: readonly {
    readonly question: string;
    readonly action: string;
    readonly threshold: number;
    readonly maxRisk?: number | undefined;
    readonly confidence?: number | undefined;
    /** Of a promise about exactly some records: an answer about any other is unsure. */
    readonly these?: unknown;
  }[];
}

/**
 * When an answer is unsure, by its printed probabilities:
 * - `below`: its most probable side, option or level is less probable than this, 0 to 1;
 * - `between`: yes is more probable than the first and less than the second, 0 to 1;
 * - `promise`: it reaches no threshold of a calibration artifact, another model gave it, the service did not
 *   read the whole state, or the promise is about exactly some records.
 */
export type Bound =
  | { readonly below: number }
  | { readonly between: readonly [low: number, high: number] }
  | { readonly promise: PromiseArtifact };

/** Question id to bound; an answer without a bound is never unsure. */
export type Bounds<TId extends string = string> = {
  readonly [TKey in TId]?: Bound | undefined;
};

const shareSchema = z.number().check(z.minimum(0), z.maximum(1));
const thresholdSchema = z.object({
  question: z.string(),
  action: z.string(),
  threshold: shareSchema,
  maxRisk: z.optional(shareSchema),
  confidence: z.optional(shareSchema),
  these: z.optional(z.unknown()),
});
const artifactSchema = z.object({
  model: z.object({ id: z.nullable(z.string()) }),
  questionHash: z.string("it names no questions; calibrate again with --questions"),
  thresholds: z.array(thresholdSchema),
});
const isRising = ([lowerShare, higherShare]: readonly number[]) =>
  (lowerShare as number) < (higherShare as number);
const boundSchemas = {
  below: optionsObject({ below: shareSchema }),
  between: optionsObject({
    between: z.tuple([shareSchema, shareSchema]).check(z.refine(isRising, "the first is lower")),
  }),
  promise: optionsObject({ promise: artifactSchema }),
};
const anyBound = z.custom<object>(
  (givenBound) =>
    Object.keys(boundSchemas).some((boundName) => Object.hasOwn(Object(givenBound), boundName)),
  "it is { below }, { between } or { promise }",
);

/** Returns a copy of bounds. @throws ConfigurationError if one is wrong. */
export function parseBounds<TBounds extends Bounds>(givenBounds: TBounds): TBounds {
  checkOptions(toRecord(z.optional(anyBound)), givenBounds);
  const definedEntries = Object.entries(givenBounds).filter(([, bound]) => bound !== undefined);
  const copiedBounds = definedEntries.map(([questionId, bound]) => {
    const boundName = Object.keys(boundSchemas).find((knownName) =>
      Object.hasOwn(bound as object, knownName),
    );
    const boundSchema = boundSchemas[boundName as keyof typeof boundSchemas];
    checkOptions(toRecord(boundSchema as z.ZodMiniType), Object.fromEntries([[questionId, bound]]));
    return [questionId, structuredClone(boundSchema.parse(bound))] as const;
  });
  return Object.fromEntries(copiedBounds) as TBounds;
}

/** Returns the bound of a typed text: `0.8`, or `0.2..0.8`; null for any other text. */
export function boundFrom(boundText: string): Exclude<Bound, { promise: unknown }> | null {
  const numbers = boundText
    .split("..", 3)
    .map((numberText) => (/^\d(?:\.\d+)?$/.test(numberText) ? +numberText : 2));
  const [low = 2, high = low, surplusNumber] = numbers;
  if (surplusNumber !== undefined || low > 1 || high > 1 || low > high) return null;
  if (numbers.length === 1) return { below: low };
  return low < high ? { between: [low, high] } : null;
}

/** Returns whether a bound is for questions of this kind; a promise is for those that it names. */
export function boundFits(bound: Bound, questionId: string, question: Question): boolean {
  if ("promise" in bound)
    return bound.promise.thresholds.some(
      (promisedThreshold) => promisedThreshold.question === questionId,
    );
  const valueForms = questionKinds[question.type].values(question).map(({ form }) => form);
  if ("between" in bound) return valueForms.includes("probability");
  return valueForms.some(
    (valueForm) => valueForm === "probability" || valueForm === "distribution",
  );
}

/** @throws ConfigurationError if a bound does not fit its question, or an artifact is for other questions. */
export async function checkBounds(givenBounds: Bounds, questions: Questions): Promise<void> {
  for (const [questionId, bound, question] of boundedIn(givenBounds, questions)) {
    const valueForms = new Set(
      questionKinds[question.type].values(question).map(({ form }) => form),
    );
    const isYesNo = valueForms.has("probability");
    if (!isYesNo && !valueForms.has("distribution"))
      rejectOption(
        questionId,
        `is a bound for a ${question.type} question, which has no probabilities`,
      );
    if ("between" in bound && !isYesNo)
      rejectOption(`${questionId}.between`, `is for a ${question.type} question; use { below }`);
    if (!("promise" in bound) || bound.promise.questionHash === (await hashOf(questions))) continue;
    const problem = "was made for other questions than are asked; one changed word is enough";
    rejectOption(`${questionId}.promise`, `${problem}. Calibrate again on answers to these`);
  }
}

/** Answers, and who gave them. */
interface BoundedAnswers extends Pick<Evaluation, "answers" | "modelId"> {
  readonly route?: Evaluation["route"] | undefined;
  readonly warnings: readonly unknown[];
}

/** Returns the ids of the unsure answers, in the order of the questions. */
export function unsureIn(
  givenBounds: Bounds,
  questions: Questions,
  { answers: all, modelId, route, warnings }: BoundedAnswers,
): string[] {
  // A promise is about states that were read as a whole.
  const isCutState = isStateCut({ warnings });
  const answers = all as Readonly<Record<string, Answer>>;
  const boundedItems = boundedIn(givenBounds, questions).filter(([questionId]) =>
    Object.hasOwn(answers, questionId),
  );
  return boundedItems.flatMap(([questionId, bound, question]) => {
    const shares = listShares(question, answers[questionId] as Answer);
    if (isCutState && "promise" in bound) return [questionId];
    return isSure(bound, shares, {
      id: questionId,
      modelId: route?.[questionId]?.modelId ?? modelId,
    })
      ? []
      : [questionId];
  });
}

function boundedIn(givenBounds: Bounds, questions: Questions) {
  return Object.entries(questions).flatMap(([questionId, question]) => {
    const bound = Object.hasOwn(givenBounds, questionId) ? givenBounds[questionId] : undefined;
    return bound === undefined ? [] : [[questionId, bound, question] as const];
  });
}

/** The printed probabilities of yes and no, of options or of levels. */
interface Shares {
  readonly isYesNo: boolean;
  readonly shares: Readonly<Record<string, number>>;
}

/** Returns the printed probabilities of an answer. */
export function listShares(question: Question, answer: Answer): Shares {
  for (const answerField of questionKinds[question.type].values(question)) {
    if (answerField.form === "distribution")
      return { isYesNo: false, shares: answerField.of(answer) };
    if (answerField.form !== "probability") continue;
    const yes = answerField.of(answer);
    // As in evaluator-calibration: 1 - 0.9 is not 0.1.
    return { isYesNo: true, shares: { yes, no: Math.round(1e12 * (1 - yes)) / 1e12 } };
  }
  return { isYesNo: false, shares: {} };
}

// Probabilities are printed with two decimals or more.
const TOLERANCE = 1e-9;

function isSure(
  bound: Bound,
  { isYesNo, shares }: Shares,
  { id, modelId }: { readonly id: string; readonly modelId: string | null },
): boolean {
  const greatest = Math.max(...Object.values(shares));
  if ("below" in bound) return greatest >= bound.below - TOLERANCE;
  if ("between" in bound) {
    const [low, high] = bound.between;
    const { yes } = shares as { readonly yes: number };
    return yes <= low + TOLERANCE || yes >= high - TOLERANCE;
  }
  const { model, thresholds } = bound.promise;
  const actions: Readonly<Record<string, number>> = isYesNo ? shares : { top: greatest };
  // As `decide` of evaluator-calibration without an id: the promise was made in hundredths.
  const reaches = ({ question, action, threshold, these }: (typeof thresholds)[number]) =>
    question === id &&
    these === undefined &&
    Object.hasOwn(actions, action) &&
    Math.round(100 * (actions[action] as number)) >= Math.round(100 * threshold);
  return modelId === model.id && thresholds.some(reaches);
}

/** Returns the hash of questions as `questionHash` of evaluator-calibration does. */
const hashOf = perQuestions(async (questions) => {
  const questionRows = Object.entries(questions).map(
    ([questionId, { type, instructions, criteria }]) => [
      questionId,
      type,
      instructions,
      criteria ?? null,
    ],
  );
  const encodedQuestions = new TextEncoder().encode(JSON.stringify(questionRows));
  const digestBytes = new Uint8Array(await crypto.subtle.digest("SHA-256", encodedQuestions));
  const binaryDigest = btoa(String.fromCharCode(...digestBytes));
  return binaryDigest.replaceAll("+", "-").replaceAll("/", "_").replace("=", "");
});
