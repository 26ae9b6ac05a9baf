import { InvalidResponseError } from "../../../errors.ts";
import type { JsonResponse } from "../../../http/http-client.ts";
import { listAt } from "../../../questions/json.ts";
import {
  countAt,
  type FirstToken,
  type LabelServer,
  type LabelToken,
  noLogprobs,
  toLogprob,
} from "./server.ts";

/** SGLang's own generation, whose request names by id which tokens to list. */
export const sglangServer: LabelServer = {
  depths: [20],
  takesTokenIds: true,
  advice: 'Update SGLang, or pass server: "openai" to use its chat.',
  async ask({ model, prompt, depth, tokenIds }, post) {
    const messages = [{ role: "user", content: prompt }];
    const template = { model, messages, chat_template_kwargs: { enable_thinking: false } };
    const { json } = await post("/tokenize", template);
    const inputIds = listAt(json, "tokens");
    if (inputIds.length === 0) throw noTokens();
    const body = {
      input_ids: inputIds,
      sampling_params: { max_new_tokens: 1, temperature: 0 },
      return_logprob: true,
      top_logprobs_num: depth,
      ...(tokenIds !== null && { token_ids_logprob: tokenIds.map(({ id }) => id) }),
      return_text_in_logprobs: true,
    };
    return fromGenerate(await post("/generate", body), tokenIds ?? []);
  },
};

function fromGenerate(response: JsonResponse, labels: readonly LabelToken[]): FirstToken {
  const { json } = response;
  const [asked = []] = listAt(json, "meta_info", "output_token_ids_logprobs") as unknown[][];
  const [top = []] = listAt(json, "meta_info", "output_top_logprobs") as unknown[][];
  const textOf = new Map(labels.map(({ id, text }) => [id, text]));
  const listed = new Map<unknown, { text: string; logprob: number }>();
  // Each entry is [logprob, token id, text or null].
  for (const entry of [...top, ...asked]) {
    const [logprob, id, text] = Array.isArray(entry) ? (entry as unknown[]) : [];
    const known = textOf.get(id as number) ?? (typeof text === "string" ? text : "");
    listed.set(id, { text: known, logprob: toLogprob(logprob) });
  }
  if (listed.size === 0) noLogprobs("answered without log-probabilities", sglangServer.advice);
  return {
    tokens: [...listed.values()],
    inputTokens: countAt(json, "meta_info", "prompt_tokens"),
    outputTokens: countAt(json, "meta_info", "completion_tokens"),
    response,
  };
}

function noTokens(): InvalidResponseError {
  const message = `The server's /tokenize gave no tokens for a chat message. ${sglangServer.advice}`;
  return new InvalidResponseError(message, { questionId: null, rule: "body-shape" });
}
