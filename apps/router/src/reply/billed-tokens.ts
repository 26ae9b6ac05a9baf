import { estimateTextTokens } from "evaluator-client";
import { listInputTokens, TOKENS_PER_IMAGE } from "../conversation/input-tokens.ts";
import { type BilledTokens, mergeUsage, noUsage, type TokenMeter } from "./usage.ts";

type Input = Parameters<typeof listInputTokens>[0];

/**
 * Returns the reported tokens of a whole reply. Otherwise at least an estimate, since a stream of Anthropic
 * reports its input and one token at its start.
 */
export function billedTokens(
  {
    written: writtenCount,
    reported: givenTokenUsage,
    tokensPerFile,
    askedUsage: askedTokenUsage = {},
  }: TokenMeter,
  conversation: Input,
  { isWhole = false } = {},
): BilledTokens {
  const reportedTokenUsage =
    givenTokenUsage && mergeUsage({ ...noUsage, ...askedTokenUsage }, givenTokenUsage);
  if (isWhole && reportedTokenUsage !== null) {
    return { usage: reportedTokenUsage, isEstimate: reportedTokenUsage.isDoubtful === true };
  }
  const input = reportedTokenUsage?.input ?? estimateInput(conversation, tokensPerFile);
  const output = Math.max(writtenCount, reportedTokenUsage?.output ?? 0);
  const usage = { ...noUsage, ...askedTokenUsage, ...reportedTokenUsage, input, output };
  return { usage, isEstimate: output !== reportedTokenUsage?.output };
}

/** Estimates the input tokens of a conversation, within 25 % for texts; a file of unknown length counts as an image. */
export function estimateInput(conversation: Input, tokensPerFile = TOKENS_PER_IMAGE): number {
  const { input, images, files } = listInputTokens(conversation, estimateTextTokens);
  return input + (images + files) * tokensPerFile;
}
