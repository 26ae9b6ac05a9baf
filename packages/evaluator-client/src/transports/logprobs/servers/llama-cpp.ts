import { listAt, textAt, valueAt } from "../../../questions/json.ts";
import { countAt, type FirstToken, type LabelServer, noLogprobs, toToken } from "./server.ts";
import { InvalidResponseError } from "../../../errors.ts";
import type { JsonResponse } from "../../../http/http-client.ts";

/** `llama-server`: its own completion lists far more tokens than its chat. */
export const llamaCppServer: LabelServer = {
  depths: [256, 4096],
  takesTokenIds: false,
  advice:
    "Update llama-server: it must take post_sampling_probs: false and answer with top_logprobs.",
  async ask({ model, prompt, depth }, post) {
    const messages = [{ role: "user", content: prompt }];
    const template = { model, messages, chat_template_kwargs: { enable_thinking: false } };
    const { json } = await post("/apply-template", template);
    const templated = textAt(json, "prompt");
    if (templated === null) throw noPrompt();
    const sampling = { n_predict: 1, n_probs: depth, post_sampling_probs: false };
    const body = { model, prompt: templated, ...sampling, cache_prompt: true };
    return fromCompletion(await post("/completion", body));
  },
};

function fromCompletion(response: JsonResponse): FirstToken {
  const { json } = response;
  const [first] = listAt(json, "completion_probabilities");
  if (Array.isArray(valueAt(first, "probs")) || Array.isArray(valueAt(first, "top_probs"))) {
    noLogprobs("answered with probabilities after sampling", llamaCppServer.advice);
  }
  const listed = listAt(first, "top_logprobs");
  if (listed.length === 0) noLogprobs("answered without log-probabilities", llamaCppServer.advice);
  return {
    tokens: listed.map(toToken),
    inputTokens: countAt(json, "tokens_evaluated"),
    outputTokens: countAt(json, "tokens_predicted"),
    response,
  };
}

function noPrompt(): InvalidResponseError {
  const message =
    'The server\'s /apply-template gave no prompt. Update llama-server, or pass server: "openai" to use its chat.';
  return new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
}
