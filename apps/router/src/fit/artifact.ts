import { hash } from "node:crypto";
import { CliError, parseJson, printable, readParsedFile } from "evaluator-kit";
import { z } from "zod";
import type { TierFit } from "../decision/decision.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { COLUMNS, toFeatures } from "./features.ts";
import { predict } from "./ridge.ts";

/** Changes with the features too: the weights belong to them. */
const VERSION = 2;

const shareSchema = z.number().min(0).max(1);
const fitSchema = z.object({
  version: z.literal(VERSION),
  cheapest: z.enum(tierNames),
  threshold: z.number(),
  intercept: z.number(),
  weights: z.array(z.number()).length(COLUMNS),
  needsEvaluation: z.boolean(),
  promise: z.object({ saving: shareSchema, quality: shareSchema, confidence: shareSchema }),
  /** The tiers' models. */
  tiers: z.record(z.enum(tierNames), z.string()),
  /** The tiers' list prices; null if they are unknown. */
  prices: z.array(z.unknown()).nullable(),
  labels: z.number(),
  labelsHash: z.string(),
});

/** Returns a fit as the text of its file. */
export function printFit(fitFields: Omit<z.infer<typeof fitSchema>, "version">): string {
  const printedFit = { version: VERSION, ...fitFields };
  return `${JSON.stringify({ ...printedFit, hash: toHash(printedFit) })}\n`;
}

function toHash(hashedValue: object): string {
  return hash("sha256", JSON.stringify(hashedValue), "hex");
}

const advice = "Make it again with evaluator-router fit.";

/** Reads a fit. @throws CliError if it was changed, or made for other tiers or models. */
export async function readFit(
  fitPath: string,
  tierModels: Readonly<Record<Tier, string>>,
  fitName = fitPath,
): Promise<TierFit> {
  const fit = await readParsedFile(fitPath, { fileName: fitName, parse: parseFit, advice });
  for (const tier of tierNames) {
    const [fittedModel, currentModel] = [fit.tiers[tier], tierModels[tier]];
    const problem = printable`${fitName} was made for ${fittedModel} as ${tier}, which is ${currentModel} here. ${advice}`;
    if (fittedModel !== currentModel) throw new CliError(problem);
  }
  return {
    needsEvaluation: fit.needsEvaluation,
    decide(promptText, probabilities) {
      const gain = predict(fit, toFeatures(promptText, fit.needsEvaluation ? probabilities : null));
      return { tier: gain >= fit.threshold ? "frontier" : fit.cheapest, gain };
    },
  };
}

function parseFit(fitText: string) {
  const { hash: ownHash, ...otherFields } = Object(parseJson(fitText)) as { hash?: unknown };
  const { data } = fitSchema.safeParse(otherFields);
  if (data === undefined) throw new Error("is no fit of this version");
  if (ownHash !== toHash(otherFields)) throw new Error("was changed: its hash is another");
  return data;
}
