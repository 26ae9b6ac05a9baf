import { isRecord, valueAt } from "../../questions/json.ts";
import type { EvaluationRequest } from "../../questions/request.ts";
import { charactersIn, estimateTokens } from "../../questions/tokens.ts";
import { imagesIn } from "../../questions/state.ts";
import type { DirectReply } from "./direct-wire.ts";

const type = "state-cut";

/** The warning of an evaluation whose service read only a part of the state. */
export interface CutStateWarning {
  readonly type: typeof type;
  readonly message: string;
}

/** Returns whether the service read only a part of the state, by the warnings of the evaluation. */
export function isStateCut({ warnings }: { readonly warnings: readonly unknown[] }): boolean {
  return warnings.some((warning) => isRecord(warning) && warning["type"] === type);
}

/** Returns a warning if the service reports a cut state, or far fewer tokens than were sent. */
export function cutStateWarnings(
  json: unknown,
  { usage }: DirectReply,
  request: EvaluationRequest,
): readonly CutStateWarning[] {
  const reason = reportedCut(json) ?? missingTokens(usage, request);
  if (reason === null) return [];
  const message = `The service did not read the whole state: ${reason}. Its answers are about the rest; shorten the state.`;
  return [{ type, message }];
}

// The fields are those of Bifrost and laya-serve (their documentation).
function reportedCut(json: unknown): string | null {
  const usage = valueAt(json, "usage");
  const droppedValue = valueAt(usage, "state_tokens_dropped");
  if (typeof droppedValue === "number" && droppedValue > 0)
    return `it dropped ${droppedValue} tokens`;
  const questions = valueAt(json, "truncated_questions") ?? valueAt(usage, "truncated_questions");
  const isCut = Array.isArray(questions) ? questions.length > 0 : Number(questions) > 0;
  return isCut || valueAt(usage, "truncated") === true ? "it reports that it cut it" : null;
}

// No known server cuts shorter states, and its count and the estimate differ by more for them. Counting
// characters first saves a tenth of a call with a mail's snippet.
const FEWEST_TOKENS = 512;
const FEWEST_CHARACTERS = 512;

function missingTokens(usage: DirectReply["usage"], request: EvaluationRequest): string | null {
  const { inputTokens = 0 } = usage ?? {};
  // No tokens mean that it does not count them; the tokens of images differ by service.
  if (inputTokens === 0 || imagesIn(request.state).length > 0) return null;
  if (charactersIn(request.state) < FEWEST_CHARACTERS) return null;
  const estimate = estimateTokens(request);
  if (estimate < FEWEST_TOKENS || inputTokens * 2 >= estimate) return null;
  return `it counts ${inputTokens} tokens of about ${estimate}`;
}
