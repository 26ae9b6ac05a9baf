import { HTTPException } from "hono/http-exception";
import type { Call, MessageRouter } from "../chat/message-router.ts";
import { cutMessage } from "../chat/cut-message.ts";
import type { Decision } from "../decision/decision.ts";
import { tierNames } from "../tier-question.ts";
import type { ChatCompletionRequest } from "./chat-completion-request.ts";
import { autoModel } from "./models-route.ts";
import { lastUserText } from "./to-model-messages.ts";

/**
 * The decision for an OpenAI request: by its last user message for `auto`, else the tier named.
 *
 * @throws HTTPException when there is no such model (404), or nothing to decide by (400).
 */
export async function chooseTier(
  { model, messages }: ChatCompletionRequest,
  router: MessageRouter,
  call: Call,
): Promise<Decision> {
  const tier = tierNames.find((name) => name === model);
  if (tier !== undefined) return router.decideTier(tier);
  if (model !== autoModel) {
    const names = [autoModel, ...tierNames].join(", ");
    throw new HTTPException(404, { message: `There is no such model here; use ${names}.` });
  }
  const text = cutMessage(lastUserText(messages));
  if (text.trim() !== "") return router.decide(text, call);
  throw new HTTPException(400, { message: "auto decides by the last user message; send one." });
}
