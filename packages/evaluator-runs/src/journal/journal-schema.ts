import { calibrationArtifactSchema } from "evaluator-calibration";
import { z } from "zod";

/** How a run was begun: enough to go on with it later. */
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
/** See {@link runBeginSchema}. */
export type RunBegin = z.infer<typeof runBeginSchema>;

/** The facts of one complete run. */
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
  /** The calibration of the results; the kept answers are not changed by it. */
  calibration: calibrationArtifactSchema.optional(),
});
/** See {@link runFactsSchema}. */
export type RunFacts = z.infer<typeof runFactsSchema>;
