import * as z from "zod";
import { evaluationResponseSchema } from "./evaluation.ts";
import { InvalidResponseError } from "./errors.ts";
import { isRecord } from "./questions/record-of.ts";

const envelopeSchema = evaluationResponseSchema.extend({ answers: z.custom(isRecord) });

/**
 * Refuses a response body whose parts around the answers break the contract (section 2.3).
 *
 * @throws InvalidResponseError naming the place.
 */
export function checkEnvelope(response: unknown): void {
  // The schema says what is wrong; that nothing is can be seen at a tenth of its cost.
  if (isEnvelope(response)) return;
  const [issue] = (envelopeSchema.safeParse(response).error as z.ZodError).issues;
  const where = issue?.path.map(String).join(".") || "the body";
  const message = `The response breaks the contract at ${where}: ${issue?.message}. It is not used; check the base URL and the model id.`;
  throw new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
}

function isEnvelope(response: unknown): boolean {
  if (!isRecord(response)) return false;
  const { answers, rounding, usage, warnings, providerMetadata } = response;
  return (
    isRecord(answers) &&
    isRecord(rounding) &&
    isCount(rounding["probabilityDecimals"], 15) &&
    isCount(rounding["scoreDecimals"], 15) &&
    isRecord(usage) &&
    isCount(usage["inputTokens"], Number.MAX_SAFE_INTEGER) &&
    isCount(usage["outputTokens"], Number.MAX_SAFE_INTEGER) &&
    Array.isArray(warnings) &&
    isRecord(providerMetadata)
  );
}

function isCount(value: unknown, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
}
