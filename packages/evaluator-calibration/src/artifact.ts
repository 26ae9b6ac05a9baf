import { en } from "zod/locales";
import * as z from "zod/mini";
import { parseJsonAs } from "./input/input-record.ts";
import { LOWEST } from "./thresholds/learn-then-test.ts";

// Without a language zod/mini reports only "Invalid input". A language that the program set is kept.
if (z.config().localeError === undefined) z.config(en());

/** A probability: at least 0 and at most 1. */
const shareSchema = z.number().check(z.minimum(0), z.maximum(1));
const countSchema = z.int().check(z.minimum(0));

/** The lowest and the highest temperature; a fit that ends at one of them is not the best. */
export const TEMPERATURE_LIMITS = [0.25, 10] as const;
const [coldest, hottest] = TEMPERATURE_LIMITS;

const recalibrationSchemas = [
  z.object({
    kind: z.literal("logistic"),
    parameters: z.object({ intercept: z.number(), slope: z.number() }),
  }),
  z.object({
    kind: z.literal("temperature"),
    parameters: z.object({ temperature: z.number().check(z.minimum(coldest), z.maximum(hottest)) }),
  }),
  z.object({
    kind: z.literal("isotonic"),
    parameters: z
      .object({ x: z.array(shareSchema).check(z.minLength(1)), y: z.array(shareSchema) })
      .check(
        z.refine(({ x, y }) => x.length === y.length, "is wrong: x and y must be equally long"),
      ),
  }),
] as const;

/** How one question's answers are recalibrated. */
export type Recalibration = z.infer<(typeof recalibrationSchemas)[number]>;

/** A threshold with a promised risk. */
const lockedThresholdSchema = z.object({
  question: z.string(),
  /** `yes`, `no`, or `top` for the most probable option or level. */
  action: z.enum(["yes", "no", "top"]),
  /** Act at this printed value and above. */
  threshold: shareSchema,
  maxRisk: shareSchema,
  confidence: shareSchema,
  /** The part of 1 − confidence that this threshold was tested at; a file of version 1 has none. */
  level: z.optional(shareSchema),
  /** `fixed`: labels drawn before the test. `sequential`: label by label. */
  method: z.optional(z.enum(["fixed", "sequential"])),
  n: countSchema,
  wrong: countSchema,
  /** The promise is about exactly these records; without it, about records like the labelled ones. */
  these: z.optional(
    z.object({
      /** Those that are acted on without a label, and how many of them are wrong at most. */
      unlabelled: countSchema,
      mostWrong: countSchema,
      /** The keys of all that may be acted on: those, and the ones that a label confirms. */
      records: z.array(z.string()),
      /** Whether the keys change with the states of the records, as a journal keeps them. */
      hasStates: z.optional(z.boolean()),
    }),
  ),
});
/** A threshold with a promised risk: act at this printed value and above. */
export type LockedThreshold = z.infer<typeof lockedThresholdSchema>;
/** `yes`, `no`, or `top` for the most probable option or level. */
export type Action = LockedThreshold["action"];

const LATEST_VERSION = 2;

const sharedFields = {
  version: z.literal([1, LATEST_VERSION]),
  model: z.object({ id: z.nullable(z.string()), wire: z.nullable(z.string()) }),
  questionHash: z.nullable(z.string()),
  rounding: z.object({ probabilityDecimals: z.int().check(z.minimum(0), z.maximum(15)) }),
  fittedOn: z.object({
    n: countSchema,
    from: z.nullable(z.string()),
    to: z.nullable(z.string()),
    /** Of the labels file. */
    hash: z.string(),
    /** Hashes of the labelled ids, sorted, at most 10,000; a file of version 1 has none. */
    ids: z.optional(z.array(z.string())),
    skipped: z.optional(countSchema),
    /** How many people or models labelled. */
    labelers: z.optional(countSchema),
  }),
  /** Mean log loss on rows that the fit did not see; null without a fit. */
  heldOut: z.nullable(z.object({ before: z.number(), after: z.number() })),
  // Version 1 could promise a "no" at 0.20, which acts on a yes of 0.80.
  thresholds: z.pipe(
    z.array(lockedThresholdSchema),
    z.transform((allThresholds) =>
      allThresholds.filter(({ action, threshold }) => threshold >= LOWEST[action]),
    ),
  ),
};

const question = z.optional(z.string());
const [logistic, temperature, isotonic] = recalibrationSchemas;

/**
 * Recalibrations and promised thresholds that were derived from labels.
 *
 * With one kind of parameters, `question` names the question they are for. With several recalibrated
 * questions, `kind` is `by-question`; with none, it is `none`.
 */
export const calibrationArtifactSchema = z.discriminatedUnion("kind", [
  z.object({ ...sharedFields, ...logistic.shape, question }),
  z.object({ ...sharedFields, ...temperature.shape, question }),
  z.object({ ...sharedFields, ...isotonic.shape, question }),
  z.object({
    ...sharedFields,
    kind: z.literal("by-question"),
    parameters: z.record(z.string(), z.discriminatedUnion("kind", recalibrationSchemas)),
  }),
  z.object({ ...sharedFields, kind: z.literal("none"), parameters: z.object({}) }),
]);
/** See {@link calibrationArtifactSchema}. */
export type CalibrationArtifact = z.infer<typeof calibrationArtifactSchema>;

/** Returns an artifact from the text of its file. @throws Error that names the invalid field. */
export function parseCalibrationArtifact(artifactText: string): CalibrationArtifact {
  return parseJsonAs(calibrationArtifactSchema, artifactText, {
    what: "a calibration",
    latest: LATEST_VERSION,
  });
}

/** Returns how a question is recalibrated, or null if it is not. */
export function recalibrationOf(
  artifact: CalibrationArtifact,
  questionId: string,
): Recalibration | null {
  if (artifact.kind === "none") return null;
  if (artifact.kind === "by-question") {
    const isKnown = Object.hasOwn(artifact.parameters, questionId);
    return isKnown ? (artifact.parameters[questionId] ?? null) : null;
  }
  const isForQuestion = artifact.question === undefined || artifact.question === questionId;
  return isForQuestion ? artifact : null;
}
