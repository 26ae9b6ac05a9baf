import type { Call, MessageRouter } from "../chat/message-router.ts";
import { cutMessage } from "../chat/cut-message.ts";
import type { Decision } from "../decision/decision.ts";
import { Refusal } from "../routes/refusal.ts";
import { tierNames } from "../tier-question.ts";
import type { ChatCompletionRequest } from "./chat-completion-request.ts";
import { autoModel } from "./models-route.ts";
import { lastUserText } from "./to-model-messages.ts";

/**
 * The decision for an OpenAI request: by its last user message for `auto`, else the tier named.
 *
 * @throws Refusal when there is no such model (404), or nothing to decide by (400).
 */
export async function chooseTier(
  { model, messages }: ChatCompletionRequest,
  router: MessageRouter,
  call: Call,
): Promise<Decision> {
  const tier = tierNames.find((name) => name === model);
  if (tier !== undefined) return router.decideTier(tier);
  if (model !== autoModel) {
    const missing = { param: "model", code: "model_not_found" };
    const names = [autoModel, ...tierNames].join(", ");
    throw new Refusal(404, `There is no such model here; use ${names}.`, missing);
  }
  const text = cutMessage(lastUserText(messages));
  if (text.trim() !== "") return router.decide(text, call);
  throw new Refusal(400, "auto decides by the last user message; send one.");
}
