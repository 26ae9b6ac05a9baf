import { hash } from "node:crypto";
import { CliError, parseJson, printable, readParsedFile } from "evaluator-kit";
import { z } from "zod";
import type { TierFit } from "../decision/decision.ts";
import { type Tier, tierNames } from "../decision/tier-question.ts";
import { COLUMNS, toFeatures } from "./features.ts";
import { predict } from "./ridge.ts";

/** Changes with the features too: the weights belong to them. */
const VERSION = 2;

const share = z.number().min(0).max(1);
const fitSchema = z.object({
  version: z.literal(VERSION),
  cheapest: z.enum(tierNames),
  threshold: z.number(),
  intercept: z.number(),
  weights: z.array(z.number()).length(COLUMNS),
  needsEvaluation: z.boolean(),
  promise: z.object({ saving: share, quality: share, confidence: share }),
  /** The tiers' models. */
  tiers: z.record(z.enum(tierNames), z.string()),
  /** The tiers' list prices; null if they are unknown. */
  prices: z.array(z.unknown()).nullable(),
  labels: z.number(),
  labelsHash: z.string(),
});

/** Returns a fit as the text of its file. */
export function printFit(parts: Omit<z.infer<typeof fitSchema>, "version">): string {
  const fit = { version: VERSION, ...parts };
  return `${JSON.stringify({ ...fit, hash: toHash(fit) })}\n`;
}

function toHash(value: object): string {
  return hash("sha256", JSON.stringify(value), "hex");
}

const advice = "Make it again with evaluator-router fit.";

/** Reads a fit. @throws CliError if it was changed, or made for other tiers or models. */
export async function readFit(
  path: string,
  tierModels: Readonly<Record<Tier, string>>,
  name = path,
): Promise<TierFit> {
  const fit = await readParsedFile(path, { fileName: name, parse: parseFit, advice });
  for (const tier of tierNames) {
    const [fittedModel, now] = [fit.tiers[tier], tierModels[tier]];
    const problem = printable`${name} was made for ${fittedModel} as ${tier}, which is ${now} here. ${advice}`;
    if (fittedModel !== now) throw new CliError(problem);
  }
  return {
    needsEvaluation: fit.needsEvaluation,
    decide(text, probabilities) {
      const gain = predict(fit, toFeatures(text, fit.needsEvaluation ? probabilities : null));
      return { tier: gain >= fit.threshold ? "frontier" : fit.cheapest, gain };
    },
  };
}

function parseFit(text: string) {
  const { hash: own, ...rest } = Object(parseJson(text)) as { hash?: unknown };
  const { data } = fitSchema.safeParse(rest);
  if (data === undefined) throw new Error("is no fit of this version");
  if (own !== toHash(rest)) throw new Error("was changed: its hash is another");
  return data;
}
