import type { ReplySettings } from "../reply/ask-for-text.ts";
import type { ChatCompletionRequest } from "./chat-completion-request.ts";

/** The settings of an OpenAI request in the words of the `ai` package; unset ones are left out. */
export function toSettings(request: ChatCompletionRequest): ReplySettings {
  const { stop } = request;
  const settings = {
    temperature: request.temperature,
    topP: request.top_p,
    presencePenalty: request.presence_penalty,
    frequencyPenalty: request.frequency_penalty,
    seed: request.seed,
    reasoning: request.reasoning_effort,
    maxOutputTokens: request.max_completion_tokens ?? request.max_tokens,
    stopSequences: typeof stop === "string" ? [stop] : stop,
  };
  const given = Object.entries(settings).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  return Object.fromEntries(given);
}
