import type { Handler } from "hono";
import type { Decision } from "../decision/decision.ts";
import { HttpError } from "../http-error.ts";
import type { Call, MessageRouter } from "../message-router.ts";
import { cutMessage } from "../routes/read-message.ts";
import { tierNames } from "../tier-question.ts";
import { type ChatCompletionRequest, lastUserText } from "./chat-completion-request.ts";

/** What the API calls the choice of the evaluation model. */
const autoModel = "auto";

const data = [autoModel, ...tierNames].map((id) => ({
  id,
  object: "model",
  created: 0,
  owned_by: "router",
}));

/** `GET /v1/models`: `auto`, and each tier under its own name. */
export const modelsRoute: Handler = (c) => c.json({ object: "list", data });

/**
 * Returns the decision for an OpenAI request: by its last user message for `auto`, else the tier
 * that its model names.
 *
 * @throws HttpError when there is no such model (404), or nothing to decide by (400).
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
    throw new HttpError(404, `There is no such model here; use ${names}.`, missing);
  }
  const text = cutMessage(lastUserText(messages));
  if (text.trim() !== "") return router.decide(text, call);
  throw new HttpError(400, "auto decides by the last user message; send one.");
}
