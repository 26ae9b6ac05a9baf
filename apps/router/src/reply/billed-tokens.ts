import { estimateTextTokens } from "evaluator-client";
import { inputTokensOf, TOKENS_PER_IMAGE } from "../conversation/input-tokens.ts";
import { type BilledTokens, mergeUsage, noUsage, type TokenMeter } from "./usage.ts";

type Input = Parameters<typeof inputTokensOf>[0];

/**
 * Returns the reported tokens of a whole reply. Otherwise at least an estimate, since a stream of Anthropic
 * reports its input and one token at its start.
 */
export function billedTokens(
  { written, reported: given, tokensPerFile, asked = {} }: TokenMeter,
  conversation: Input,
  { isWhole = false } = {},
): BilledTokens {
  const reported = given && mergeUsage({ ...noUsage, ...asked }, given);
  if (isWhole && reported !== null) {
    return { usage: reported, isEstimate: reported.isDoubtful === true };
  }
  const input = reported?.input ?? estimateInput(conversation, tokensPerFile);
  const output = Math.max(written, reported?.output ?? 0);
  const usage = { ...noUsage, ...asked, ...reported, input, output };
  return { usage, isEstimate: output !== reported?.output };
}

/** Estimates the input tokens of a conversation, within 25 % for texts; a file of unknown length counts as an image. */
export function estimateInput(conversation: Input, tokensPerFile = TOKENS_PER_IMAGE): number {
  const { input, images, files } = inputTokensOf(conversation, estimateTextTokens);
  return input + (images + files) * tokensPerFile;
}
