import type { JsonResponse } from "../../../http/http-client.ts";
import { listAt, textAt, valueAt } from "../../../questions/json.ts";
import { countAt, type FirstToken, type LabelServer, noLogprobs, toToken } from "./server.ts";

const PATH = "/v1/chat/completions";
/** The most that OpenAI, vLLM as it starts, and Ollama list. */
const MOST_LISTED = 20;
/** What a model prints before it thinks. */
const thinkingTokens = /^<\|?(think|thinking|seed:think|channel|begin_of_thought)\|?>$/;

/** OpenAI's chat, and whatever else speaks it. */
export const openAiServer: LabelServer = {
  depths: [MOST_LISTED],
  takesTokenIds: false,
  advice:
    "Choose a model that returns log-probabilities (a reasoning model does not), or a server that passes on logprobs and top_logprobs.",
  async ask({ model, prompt, depth }, post) {
    const body = { ...chatBody(model, prompt, depth), max_completion_tokens: 1 };
    return fromChat(await post(PATH, body), openAiServer.advice);
  },
};

/** Ollama's chat: it knows the older name of the limit only. */
export const ollamaServer: LabelServer = {
  depths: [MOST_LISTED],
  takesTokenIds: false,
  advice: "Update Ollama: versions before 0.12.11 drop logprobs and top_logprobs without a word.",
  async ask({ model, prompt, depth }, post) {
    const body = { ...chatBody(model, prompt, depth), max_tokens: 1, reasoning_effort: "none" };
    return fromChat(await post(PATH, body), ollamaServer.advice);
  },
};

/** vLLM's chat, which lists the tokens that a request names. */
export const vllmServer: LabelServer = {
  depths: [MOST_LISTED],
  takesTokenIds: true,
  advice: `Start vLLM with --max-logprobs ${MOST_LISTED} or more.`,
  async ask({ model, prompt, depth, tokenIds }, post) {
    const body = {
      ...chatBody(model, prompt, depth),
      ...(tokenIds !== null && { logprob_token_ids: tokenIds.map(({ id }) => id) }),
      max_completion_tokens: 1,
      chat_template_kwargs: { enable_thinking: false },
    };
    return fromChat(await post(PATH, body), vllmServer.advice);
  },
};

function chatBody(model: string, prompt: string, depth: number) {
  const messages = [{ role: "user", content: prompt }];
  return { model, messages, logprobs: true, top_logprobs: depth, temperature: 0 };
}

/** Reads the first content token of a chat's answer. */
function fromChat(response: JsonResponse, advice: string): FirstToken {
  const { json } = response;
  const [choice] = listAt(json, "choices");
  const [first] = listAt(choice, "logprobs", "content");
  rejectThinking(choice, first);
  if (first === undefined) noLogprobs("answered without log-probabilities", advice);
  const listed = listAt(first, "top_logprobs").map(toToken);
  const own = toToken(first);
  // A token asked for by id may not be the one that was said, which then is in no list.
  const isListed = listed.some(({ text }) => text === own.text);
  return {
    tokens: isListed ? listed : [...listed, own],
    inputTokens: countAt(json, "usage", "prompt_tokens"),
    outputTokens: countAt(json, "usage", "completion_tokens"),
    response,
  };
}

function rejectThinking(choice: unknown, first: unknown): void {
  const message = valueAt(choice, "message");
  const said = textAt(message, "reasoning_content") ?? textAt(message, "reasoning") ?? "";
  const token = textAt(first, "token")?.trim() ?? "";
  if (said === "" && !thinkingTokens.test(token)) return;
  const advice = "Switch thinking off at the server, or choose a model that does not think.";
  noLogprobs("let the model think before it answers", advice);
}
