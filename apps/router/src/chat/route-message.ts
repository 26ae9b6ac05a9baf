import type { Services } from "../services/services.ts";
import { type Tier, tierQuestions } from "../tier-question.ts";
import type { ChatResponse } from "./chat-response.ts";
import { cutMessage } from "./cut-message.ts";
import { generateReply } from "./generate-reply.ts";

/** What a message is routed with. */
export interface Routing {
  readonly services: Services;
  /** The text model id of each tier. */
  readonly tierModels: Readonly<Record<Tier, string>>;
}

/**
 * Lets the evaluation model choose a tier, and that tier's model reply (contract section 4.6).
 *
 * @throws EvaluatorError when no tier could be chosen, or the signal's reason.
 */
export async function routeMessage(
  message: string,
  { services, tierModels }: Routing,
  signal: AbortSignal,
): Promise<ChatResponse> {
  const prompt = cutMessage(message);
  const request = { state: { user_message: prompt }, questions: tierQuestions };
  const { answers, confidence, timing } = await services.evaluator.evaluate(request, { signal });
  const tier = answers.tier.choice;
  const model = services.languageModel(tierModels[tier]);
  const reply = await generateReply(prompt, { model, signal, redact: services.redact });
  return {
    tier,
    model: tierModels[tier],
    probabilities: answers.tier.probabilities,
    confidence: confidence.tier,
    jevMs: Math.round(timing.totalMs),
    replyMs: reply.replyMs,
    reply: reply.reply,
    replyError: reply.replyError,
    usage: reply.usage,
  };
}
