import { calibrationArtifactSchema } from "evaluator-calibration";
import type { Questions } from "evaluator-client";
import { z } from "zod";
import type { Service } from "../service.ts";

/** How a run was begun: what another program needs to go on with it. */
export const runBeginSchema = z.object({
  /** The hash of what it asks, of whom. */
  setup: z.string(),
  /** How many mails it takes, from the start of the input. */
  mails: z.int(),
  /** What was typed, with whole paths, the source's options too; null stands for Infinity. */
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

/** A run that was begun. */
export interface BegunRun {
  readonly questions: Questions;
  readonly service: Service;
  /** Null for a run of a program that did not note it. */
  readonly begin: RunBegin | null;
}

/** What one run that went through came to. */
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
  /** Whether nobody said what the engine costs; `costUsd` is 0 then. */
  isUnpriced: z.boolean().optional(),
  /** What the results were recalibrated with; the answers are kept as they came. */
  calibration: calibrationArtifactSchema.optional(),
});
/** See {@link runFactsSchema}. */
export type RunFacts = z.infer<typeof runFactsSchema>;
