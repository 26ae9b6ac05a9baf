import { calibrationArtifactSchema } from "evaluator-calibration/reports";
import { z } from "zod";

/** See {@link RunBegin}. */
export const runBeginSchema = z.object({
  /** The hash of questions, model and address. */
  setup: z.string(),
  /** The number of records, from the start of the input. */
  mails: z.int(),
  /** The typed options with absolute paths, and those of the source; null means Infinity. */
  options: z.looseObject({
    limit: z.int().nullable(),
    skipInvalid: z.boolean(),
    questions: z.string().nullable(),
    calibration: z.string().nullable(),
    format: z.enum(["json", "ndjson", "csv"]),
    maxCostUsd: z.number().nullable(),
  }),
});
/** How a run was begun: enough to go on with it later. */
export type RunBegin = z.infer<typeof runBeginSchema>;

const stepFactsSchema = z.object({
  /** The transport and the model. */
  name: z.string(),
  /** The records that it was asked about, and answered. */
  records: z.int(),
  /** The questions whose answer it gave in the end. */
  answers: z.int(),
  /** Those of them that are unsure; journals of older versions do not say it. */
  unsure: z.int().default(0),
  /** In US dollars, without answers of unknown cost. */
  costUsd: z.number(),
  isUnpriced: z.boolean(),
  /** The records that it was to be asked about again, and failed; those keep the answers of the engine before. */
  failed: z.int(),
  /** Why it failed last. */
  failure: z.string().optional(),
});
/** What one of two engines did in a run. */
export type StepFacts = z.infer<typeof stepFactsSchema>;

/** See {@link RunFacts}. */
export const runFactsSchema = z.object({
  finishedAt: z.string(),
  wire: z.string(),
  modelId: z.string(),
  mails: z.int(),
  answered: z.int(),
  failed: z.int(),
  inputTokens: z.number(),
  costUsd: z.number(),
  elapsedMs: z.number(),
  /** Whether no price of the engine was known; `costUsd` is 0 then. */
  isUnpriced: z.boolean().optional(),
  /** What each engine did, if one was asked again for unsure answers. */
  steps: z.array(stepFactsSchema).optional(),
  /** The calibration of the results; the kept answers are not changed by it. */
  calibration: z.optional(calibrationArtifactSchema),
});
/** The facts of one complete run. */
export type RunFacts = z.infer<typeof runFactsSchema>;

/** See {@link StoredFacts}. */
export const storedFactsSchema = z.looseObject({
  /** Of a database: both engines, if one is asked again for unsure answers, and their prices; null if it is not known. */
  engines: z
    .array(z.object({ name: z.string(), usdPerMillionTokens: z.number().nullable() }))
    .optional(),
  /** Of a database: the column with the ids, if the input is a table. */
  idColumn: z.string().optional(),
  /** Of a database: see `RunCommand`. */
  newSince: z.string().optional(),
  /** Of a file: how the run was begun, and what it noted when it was complete. */
  options: runBeginSchema.shape.options.optional(),
  calibration: runFactsSchema.shape.calibration,
  complete: runFactsSchema.optional(),
});
/** What a run notes beside its counts. */
export type StoredFacts = z.infer<typeof storedFactsSchema>;
