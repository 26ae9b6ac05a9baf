import { InvalidRequestError } from "../errors.ts";
import { questionKinds } from "../questions/kinds.ts";
import { type EvaluationRequest, perQuestions } from "../questions/request.ts";
import { imagesIn, withoutImageBytes } from "../questions/state.ts";
import { estimateTokens, isSurelyOver, MOST_TOKENS_OF_AN_IMAGE } from "../questions/tokens.ts";
import { mostTextTokens } from "../questions/text-tokens.ts";
import type { CallEstimate, Transport } from "./transport.ts";

/** A request's estimate with the most input tokens that it may take. */
export type BoundedEstimate = CallEstimate & Required<Pick<CallEstimate, "mostInputTokens">>;

/** Returns the most tokens of an evaluation, input and output. */
export function computeMostTokens({ mostInputTokens, outputTokens = 0 }: BoundedEstimate): number {
  return mostInputTokens + outputTokens;
}

/** Estimates one evaluation over a transport; tokens are counted when they are read. */
export function estimateCall(
  request: EvaluationRequest,
  transport: Pick<Transport, "estimate" | "wire"> | undefined,
): BoundedEstimate {
  const own = transport?.estimate?.(request);
  if (own === undefined) {
    return {
      calls: 1,
      get inputTokens() {
        return estimateTokens(request);
      },
      get mostInputTokens() {
        const { wire = "systemone" } = transport ?? {};
        return mostTokens(request) + (wire === "systemone" ? 0 : mostInNames(request.questions));
      },
    };
  }
  const { calls, inputTokens, outputTokens = 0 } = own;
  return {
    calls,
    inputTokens,
    outputTokens,
    get mostInputTokens() {
      return own.mostInputTokens ?? 2 * inputTokens + calls * MOST_TOKENS_OF_A_PROMPT;
    },
  };
}

/** The most tokens of the prompt around a request: the contract's routing decision of 336 has about 200 (rule 8). */
export const MOST_TOKENS_OF_A_PROMPT = 256;

/** Returns the most input tokens of a request in one call, whatever the tokenizer, with the service's own prompt. */
export function mostTokens({ state, questions }: EvaluationRequest): number {
  const tokens = mostTextTokens(JSON.stringify(withoutImageBytes(state)));
  const images = imagesIn(state).length * MOST_TOKENS_OF_AN_IMAGE;
  return MOST_TOKENS_OF_A_PROMPT + tokens + mostInQuestions(questions) + images;
}

const mostInQuestions = perQuestions((questions) => mostTextTokens(JSON.stringify(questions)));

/** What forms with longer names write around a question, and around an option or a level. */
const MOST_TOKENS_OF_NAMES = { question: 64, key: 32 };

const mostInNames = perQuestions((questions) => {
  const askedItems = Object.values(questions);
  const keys = askedItems.flatMap((question) => questionKinds[question.type].keys(question));
  return askedItems.length * MOST_TOKENS_OF_NAMES.question + keys.length * MOST_TOKENS_OF_NAMES.key;
});

/** @throws InvalidRequestError for a state that is surely longer than the service reads */
export function checkLength(
  { state }: EvaluationRequest,
  { name, mostStateTokens: most }: Pick<Transport, "mostStateTokens" | "name">,
): void {
  if (most === undefined || !isSurelyOver(state, most)) return;
  const limit = `more than the ${most.toLocaleString("en")} tokens that the service ${name} reads`;
  const message = `The state is too long: ${limit}. Shorten it, for example with cutText().`;
  throw new InvalidRequestError(message);
}
