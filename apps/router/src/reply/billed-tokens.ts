import { estimateTextTokens } from "evaluator-client";
import { listInputTokens, TOKENS_PER_IMAGE } from "../conversation/input-tokens.ts";
import { type BilledTokens, mergeUsage, noUsage, type TokenMeter } from "./usage.ts";

type Input = Parameters<typeof listInputTokens>[0];

/**
 * Returns the reported tokens of a whole reply. Otherwise at least an estimate, since a stream of Anthropic
 * reports its input and one token at its start.
 */
export function billedTokens(
  meter: TokenMeter,
  conversation: Input,
  { isWhole = false } = {},
): BilledTokens {
  const baseUsage = { ...noUsage, ...meter.askedUsage };
  const reportedUsage = meter.reported && mergeUsage(baseUsage, meter.reported);
  if (isWhole && reportedUsage !== null) {
    return { usage: reportedUsage, isEstimate: reportedUsage.isDoubtful === true };
  }
  const input = reportedUsage?.input ?? estimateInput(conversation, meter.tokensPerFile);
  const output = Math.max(meter.written, reportedUsage?.output ?? 0);
  const usage = { ...baseUsage, ...reportedUsage, input, output };
  return { usage, isEstimate: output !== reportedUsage?.output };
}

/** Estimates the input tokens of a conversation, within 25 % for texts; a file of unknown length counts as an image. */
export function estimateInput(conversation: Input, tokensPerFile = TOKENS_PER_IMAGE): number {
  const { input, images, files } = listInputTokens(conversation, estimateTextTokens);
  return input + (images + files) * tokensPerFile;
}
