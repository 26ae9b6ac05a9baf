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

const share = z.number().check(z.minimum(0), z.maximum(1));
const thresholdSchema = z.object({
  question: z.string(),
  action: z.string(),
  threshold: share,
  maxRisk: z.optional(share),
  confidence: z.optional(share),
  these: z.optional(z.unknown()),
});
const artifactSchema = z.object({
  model: z.object({ id: z.nullable(z.string()) }),
  questionHash: z.string("it names no questions; calibrate again with --questions"),
  thresholds: z.array(thresholdSchema),
});
const isRising = ([low, high]: readonly number[]) => (low as number) < (high as number);
const bounds = {
  below: optionsObject({ below: share }),
  between: optionsObject({
    between: z.tuple([share, share]).check(z.refine(isRising, "the first is lower")),
  }),
  promise: optionsObject({ promise: artifactSchema }),
};
const anyBound = z.custom<object>(
  (value) => Object.keys(bounds).some((name) => Object.hasOwn(Object(value), name)),
  "it is { below }, { between } or { promise }",
);

/** Returns a copy of bounds. @throws ConfigurationError if one is wrong. */
export function parseBounds<TBounds extends Bounds>(givenBounds: TBounds): TBounds {
  checkOptions(toRecord(z.optional(anyBound)), givenBounds);
  const definedEntries = Object.entries(givenBounds).filter(([, bound]) => bound !== undefined);
  const copies = definedEntries.map(([id, bound]) => {
    const name = Object.keys(bounds).find((one) => Object.hasOwn(bound as object, one));
    const schema = bounds[name as keyof typeof bounds];
    checkOptions(toRecord(schema as z.ZodMiniType), Object.fromEntries([[id, bound]]));
    return [id, structuredClone(schema.parse(bound))] as const;
  });
  return Object.fromEntries(copies) as TBounds;
}

/** Returns the bound of a typed text: `0.8`, or `0.2..0.8`; null for any other text. */
export function boundFrom(text: string): Exclude<Bound, { promise: unknown }> | null {
  const numbers = text
    .split("..", 3)
    .map((number) => (/^\d(?:\.\d+)?$/.test(number) ? +number : 2));
  const [low = 2, high = low, more] = numbers;
  if (more !== undefined || low > 1 || high > 1 || low > high) return null;
  if (numbers.length === 1) return { below: low };
  return low < high ? { between: [low, high] } : null;
}

/** Returns whether a bound is for questions of this kind; a promise is for those that it names. */
export function boundFits(bound: Bound, id: string, question: Question): boolean {
  if ("promise" in bound) return bound.promise.thresholds.some((one) => one.question === id);
  const forms = questionKinds[question.type].values(question).map(({ form }) => form);
  if ("between" in bound) return forms.includes("probability");
  return forms.some((form) => form === "probability" || form === "distribution");
}

/** @throws ConfigurationError if a bound does not fit its question, or an artifact is for other questions. */
export async function checkBounds(givenBounds: Bounds, questions: Questions): Promise<void> {
  for (const [id, bound, question] of boundedIn(givenBounds, questions)) {
    const forms = new Set(questionKinds[question.type].values(question).map(({ form }) => form));
    const isYesNo = forms.has("probability");
    if (!isYesNo && !forms.has("distribution"))
      rejectOption(id, `is a bound for a ${question.type} question, which has no probabilities`);
    if ("between" in bound && !isYesNo)
      rejectOption(`${id}.between`, `is for a ${question.type} question; use { below }`);
    if (!("promise" in bound) || bound.promise.questionHash === (await hashOf(questions))) continue;
    const problem = "was made for other questions than are asked; one changed word is enough";
    rejectOption(`${id}.promise`, `${problem}. Calibrate again on answers to these`);
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
  const isCut = isStateCut({ warnings });
  const answers = all as Readonly<Record<string, Answer>>;
  const boundedItems = boundedIn(givenBounds, questions).filter(([id]) =>
    Object.hasOwn(answers, id),
  );
  return boundedItems.flatMap(([id, bound, question]) => {
    const shares = listShares(question, answers[id] as Answer);
    if (isCut && "promise" in bound) return [id];
    return isSure(bound, shares, { id, modelId: route?.[id]?.modelId ?? modelId }) ? [] : [id];
  });
}

function boundedIn(givenBounds: Bounds, questions: Questions) {
  return Object.entries(questions).flatMap(([id, question]) => {
    const bound = Object.hasOwn(givenBounds, id) ? givenBounds[id] : undefined;
    return bound === undefined ? [] : [[id, bound, question] as const];
  });
}

/** The printed probabilities of yes and no, of options or of levels. */
interface Shares {
  readonly isYesNo: boolean;
  readonly shares: Readonly<Record<string, number>>;
}

/** Returns the printed probabilities of an answer. */
export function listShares(question: Question, answer: Answer): Shares {
  for (const field of questionKinds[question.type].values(question)) {
    if (field.form === "distribution") return { isYesNo: false, shares: field.of(answer) };
    if (field.form !== "probability") continue;
    const yes = field.of(answer);
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
  const askedItemLists = Object.entries(questions).map(([id, { type, instructions, criteria }]) => [
    id,
    type,
    instructions,
    criteria ?? null,
  ]);
  const bytes = new TextEncoder().encode(JSON.stringify(askedItemLists));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const text = btoa(String.fromCharCode(...digest));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace("=", "");
});
