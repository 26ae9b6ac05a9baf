import { ConfigurationError, InvalidResponseError } from "../../errors.ts";
import type { JsonResponse } from "../../http/http-response.ts";
import { listAt, textAt, valueAt } from "../../questions/json.ts";

interface FirstTokenRequest {
  readonly model: string;
  readonly prompt: string;
  readonly depth: number;
  /** Tokens to list in any case, if the server takes ids; else null. */
  readonly tokenIds: readonly { readonly id: number; readonly text: string }[] | null;
}

/** One token with the natural logarithm of its probability, and its text with any leading space. */
interface TokenLogprob {
  readonly text: string;
  readonly logprob: number;
}

/** The tokens that might have begun an answer. */
export interface FirstToken {
  readonly tokens: readonly TokenLogprob[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly response: JsonResponse;
}

type Post = (path: string, body: object) => Promise<JsonResponse>;

/** One kind of server. */
export interface LabelServer {
  /** How many tokens it can list, fewest first; the next step is taken only if labels are missing. */
  readonly depths: readonly number[];
  /** Whether a request can name by id which tokens to list. */
  readonly takesTokenIds: boolean;
  /** Asks for the first token of the answer to one prompt. */
  ask(request: FirstTokenRequest, post: Post): Promise<FirstToken>;
}

/** The most that OpenAI, vLLM by default, and Ollama list. */
const MOST_LISTED = 20;
const thinkingTokens = /^<\|?(think|thinking|seed:think|channel|begin_of_thought)\|?>$/;
const noThinking = { chat_template_kwargs: { enable_thinking: false } };

/** The servers by the name in the option `server`. */
export const labelServers = {
  openai: chatServer(
    "Choose a model that returns log-probabilities (a reasoning model does not), or a server that passes on logprobs and top_logprobs.",
    { max_completion_tokens: 1 },
  ),
  vllm: chatServer(
    `Start vLLM with --max-logprobs ${MOST_LISTED} or more.`,
    { max_completion_tokens: 1, ...noThinking },
    true,
  ),
  "llama.cpp": { depths: [256, 4096], takesTokenIds: false, ask: askLlamaCpp },
  sglang: { depths: [20], takesTokenIds: true, ask: askSglang },
  // It knows only the older name of the limit.
  ollama: chatServer(
    "Update Ollama: versions before 0.12.11 drop logprobs and top_logprobs without a word.",
    { max_tokens: 1, reasoning_effort: "none" },
  ),
} as const satisfies Record<string, LabelServer>;

/** The name of a kind of server. */
export type LabelServerName = keyof typeof labelServers;

function chatServer(advice: string, ownFields: object, takesTokenIds = false): LabelServer {
  return {
    depths: [MOST_LISTED],
    takesTokenIds,
    async ask({ model, prompt, depth, tokenIds }, post) {
      const body = {
        model,
        messages: [{ role: "user", content: prompt }],
        logprobs: true,
        top_logprobs: depth,
        temperature: 0,
        ...(tokenIds !== null && { logprob_token_ids: tokenIds.map(({ id }) => id) }),
        ...ownFields,
      };
      return fromChat(await post("/v1/chat/completions", body), advice);
    },
  };
}

function fromChat(response: JsonResponse, advice: string): FirstToken {
  const { json } = response;
  const [choice] = listAt(json, "choices");
  const [first] = listAt(choice, "logprobs", "content");
  rejectThinking(choice, first);
  if (first === undefined) noLogprobs(advice);
  const listedTokenLogprobs = listAt(first, "top_logprobs").map(toToken);
  const own = toToken(first);
  // Token ids in the request may leave the answered token out of the list.
  const isListed = listedTokenLogprobs.some(({ text }) => text === own.text);
  return {
    tokens: isListed ? listedTokenLogprobs : [...listedTokenLogprobs, own],
    inputTokens: countAt(json, "usage", "prompt_tokens"),
    outputTokens: countAt(json, "usage", "completion_tokens"),
    response,
  };
}

function rejectThinking(choice: unknown, first: unknown): void {
  const message = valueAt(choice, "message");
  const thoughts = textAt(message, "reasoning_content") ?? textAt(message, "reasoning") ?? "";
  const token = textAt(first, "token")?.trim() ?? "";
  if (thoughts === "" && !thinkingTokens.test(token)) return;
  const advice = "Switch thinking off at the server, or choose a model that does not think.";
  noLogprobs(advice, "let the model think before it answers");
}

const llamaCppAdvice =
  "Update llama-server: it must take post_sampling_probs: false and answer with top_logprobs.";

// llama-server's own completion lists far more tokens than its chat.
async function askLlamaCpp({ model, prompt, depth }: FirstTokenRequest, post: Post) {
  const messages = [{ role: "user", content: prompt }];
  const templatedJsonResponse = await post("/apply-template", { model, messages, ...noThinking });
  const text = textAt(templatedJsonResponse.json, "prompt");
  if (text === null) {
    noTemplate(
      '/apply-template gave no prompt. Update llama-server, or pass server: "openai" to use its chat.',
    );
  }
  const sampling = { n_predict: 1, n_probs: depth, post_sampling_probs: false };
  const body = { model, prompt: text, ...sampling, cache_prompt: true };
  const response = await post("/completion", body);
  const { json } = response;
  const [first] = listAt(json, "completion_probabilities");
  if (Array.isArray(valueAt(first, "probs")) || Array.isArray(valueAt(first, "top_probs"))) {
    noLogprobs(llamaCppAdvice, "answered with probabilities after sampling");
  }
  const topTokens = listAt(first, "top_logprobs");
  if (topTokens.length === 0) noLogprobs(llamaCppAdvice);
  return {
    tokens: topTokens.map(toToken),
    inputTokens: countAt(json, "tokens_evaluated"),
    outputTokens: countAt(json, "tokens_predicted"),
    response,
  };
}

const sglangAdvice = 'Update SGLang, or pass server: "openai" to use its chat.';

// SGLang's own generation takes the ids of the tokens to list.
async function askSglang({ model, prompt, depth, tokenIds }: FirstTokenRequest, post: Post) {
  const messages = [{ role: "user", content: prompt }];
  const template = await post("/tokenize", { model, messages, ...noThinking });
  const inputIds = listAt(template.json, "tokens");
  if (inputIds.length === 0) {
    noTemplate(`/tokenize gave no tokens for a chat message. ${sglangAdvice}`);
  }
  const response = await post("/generate", {
    input_ids: inputIds,
    sampling_params: { max_new_tokens: 1, temperature: 0 },
    return_logprob: true,
    top_logprobs_num: depth,
    ...(tokenIds !== null && { token_ids_logprob: tokenIds.map(({ id }) => id) }),
    return_text_in_logprobs: true,
  });
  const { json } = response;
  const tokens = sglangTokens(json, tokenIds ?? []);
  if (tokens.length === 0) noLogprobs(sglangAdvice);
  return {
    tokens,
    inputTokens: countAt(json, "meta_info", "prompt_tokens"),
    outputTokens: countAt(json, "meta_info", "completion_tokens"),
    response,
  };
}

function sglangTokens(json: unknown, labels: NonNullable<FirstTokenRequest["tokenIds"]>) {
  const [askedItems = []] = listAt(json, "meta_info", "output_token_ids_logprobs") as unknown[][];
  const [top = []] = listAt(json, "meta_info", "output_top_logprobs") as unknown[][];
  const textOf = new Map(labels.map(({ id, text }) => [id, text]));
  const tokensById = new Map<unknown, TokenLogprob>();
  // Each entry is [logprob, token id, text or null].
  for (const entry of [...top, ...askedItems]) {
    const [logprob, id, text] = Array.isArray(entry) ? (entry as unknown[]) : [];
    const tokenText = textOf.get(id as number) ?? (typeof text === "string" ? text : "");
    tokensById.set(id, { text: tokenText, logprob: toLogprob(logprob) });
  }
  return [...tokensById.values()];
}

function noTemplate(problem: string): never {
  const details = { questionId: null, rule: "body-shape" };
  throw new InvalidResponseError(`The server's ${problem}`, details);
}

function noLogprobs(advice: string, problem = "answered without log-probabilities"): never {
  const message = `The server ${problem}, so there is nothing to read an answer from. ${advice}`;
  throw new ConfigurationError(message, { option: "server" });
}

/** Returns a whole number from 0 up, else 0: no answer depends on usage. */
function countAt(json: unknown, ...path: readonly string[]): number {
  const value = valueAt(json, ...path);
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;
}

function toToken(item: unknown): TokenLogprob {
  return { text: textAt(item, "token") ?? "", logprob: toLogprob(valueAt(item, "logprob")) };
}

/** Returns a logarithm, or NaN; JSON writes minus infinity as null. */
function toLogprob(value: unknown): number {
  if (value === null) return Number.NEGATIVE_INFINITY;
  return typeof value === "number" ? value : Number.NaN;
}
