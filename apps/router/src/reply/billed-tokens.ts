import { estimateTextTokens } from "evaluator-client";
import { inputTokensOf } from "../conversation/input-tokens.ts";
import { type BilledTokens, estimateTokens, noUsage, type TokenMeter } from "./usage.ts";

/**
 * Returns the reported tokens of a whole reply. Otherwise at least an estimate, since a stream of Anthropic
 * reports its input and one token at its start.
 */
export function billedTokens(
  { characters, reported }: TokenMeter,
  conversation: Parameters<typeof inputTokensOf>[0],
  { isWhole = false } = {},
): BilledTokens {
  if (isWhole && reported !== null) {
    return { usage: reported, isEstimate: reported.isDoubtful === true };
  }
  const input = reported?.input ?? inputTokensOf(conversation, estimateTextTokens).input;
  const output = Math.max(estimateTokens(characters), reported?.output ?? 0);
  const usage = { ...noUsage, ...reported, input, output };
  return { usage, isEstimate: output !== reported?.output };
}
