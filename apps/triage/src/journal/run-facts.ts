import { z } from "zod";

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
});
/** See {@link runFactsSchema}. */
export type RunFacts = z.infer<typeof runFactsSchema>;
