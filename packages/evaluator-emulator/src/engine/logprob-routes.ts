import { answerJson, lexicalModel } from "../answers/judgement.ts";
import type { Call, EmulatorContext, Trap } from "../call.ts";
import { RequestError } from "../request-error.ts";
import { isJsonRecord } from "../json.ts";
import type { Content } from "../questions/content.ts";
import { estimateTextTokens } from "../questions/evaluation-input.ts";
import { allKinds, type JudgedAnswer } from "../questions/kinds/kinds.ts";
import { chatReply } from "./chat-reply.ts";

type Body = Record<string, unknown>;

/** A route of a chat server whose body is a JSON object. */
type EngineRoute = (
  call: Call,
  body: Body,
  playedParts: { readonly engine: string; readonly context: EmulatorContext },
) => Response;

/** The most tokens that a chat lists. */
const mostListed = 20;

/** Answers a chat; with log-probabilities from the judge if the body wants them. */
const chat: EngineRoute = (call, body, { engine, context }) => {
  const isAsked = body["logprobs"] === true;
  const reply = isAsked ? null : chatReply(body, context.nextId);
  if (reply !== null) return reply;
  const id = `chatcmpl-${context.nextId()}`;
  const prompt = messageIn(body);
  const { tokens, basis, trap } = tokensFor(call, prompt, context);
  const depth = Math.min(Number(body["top_logprobs"] ?? 0), mostListed);
  const ids = engine === "vllm" ? idsIn(body, "logprob_token_ids") : [];
  const namedTokens =
    ids.length === 0 ? tokens : tokens.filter(({ token }) => ids.includes(packToken(token)));
  const listedTokens = listTokens(namedTokens, ids.length || depth, trap);
  const [first] = trap === "thinking-first" ? listedTokens : tokens;
  const limit = body["max_completion_tokens"] ?? body["max_tokens"];
  const choice = {
    index: 0,
    message: { role: "assistant", content: first?.token ?? "" },
    logprobs:
      isAsked && trap !== "no-logprobs"
        ? { content: [{ ...first, top_logprobs: listedTokens }] }
        : null,
    finish_reason: limit === 1 ? "length" : "stop",
  };
  return answerJson(
    {
      id,
      object: "chat.completion",
      created: 0,
      model: lexicalModel,
      choices: [choice],
      usage: { prompt_tokens: estimateTextTokens(prompt), completion_tokens: 1 },
    },
    basis,
  );
};

const completion: EngineRoute = (call, body, { context }) => {
  const prompt = textIn(body, "prompt");
  const { tokens, basis, trap } = tokensFor(call, prompt, context);
  const listedItems = listTokens(tokens, Number(body["n_probs"] ?? 0), trap);
  const position = { ...tokens[0], top_logprobs: listedItems };
  return answerJson(
    {
      content: tokens[0]?.token,
      model: lexicalModel,
      ...(trap !== "no-logprobs" && { completion_probabilities: [position] }),
      tokens_evaluated: estimateTextTokens(prompt),
      tokens_predicted: 1,
    },
    basis,
  );
};

const applyTemplate: EngineRoute = (_call, body) =>
  Response.json({ prompt: `<|user|>\n${messageIn(body)}\n<|assistant|>\n` });

const tokenize: EngineRoute = (_call, body) => {
  const tokens = tokenIds(
    Array.isArray(body["messages"]) ? messageIn(body) : textIn(body, "prompt"),
  );
  return Response.json({ tokens, count: tokens.length, max_model_len: 32_768 });
};

const generate: EngineRoute = (call, body, { context }) => {
  const prompt = tokenText(idsIn(body, "input_ids"));
  const { tokens, basis, trap } = tokensFor(call, prompt, context);
  const depth = Number(body["top_logprobs_num"] ?? 0);
  const ids = idsIn(body, "token_ids_logprob");
  const namedItems = tokens.filter(({ token }) => ids.includes(packToken(token)));
  const listed = (some: readonly FirstToken[], count: number) =>
    listTokens(some, count, trap).map(({ token, logprob }) => {
      return [logprob, packToken(token), token];
    });
  const meta_info = {
    prompt_tokens: estimateTextTokens(prompt),
    completion_tokens: 1,
    ...(trap !== "no-logprobs" && {
      output_top_logprobs: [listed(tokens, depth)],
      output_token_ids_logprobs: [trap === "short-list" ? [] : listed(namedItems, ids.length)],
    }),
  };
  return answerJson({ text: tokens[0]?.token, meta_info }, basis);
};

/** The routes of chat servers with log-probabilities, by path. */
export const logprobRoutes: Readonly<Record<string, EngineRoute>> = {
  "/v1/chat/completions": chat,
  "/tokenize": tokenize,
  "/apply-template": applyTemplate,
  "/completion": completion,
  "/generate": generate,
};

function messageIn({ messages }: Body): string {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : null;
  return isJsonRecord(last) ? textIn(last, "content") : textIn({}, "messages");
}

function textIn(body: Body, field: string): string {
  const text = body[field];
  if (typeof text === "string") return text;
  throw new RequestError(`Expected text in ${field}.`);
}

function idsIn(body: Body, field: string): readonly number[] {
  const ids = body[field];
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "number") : [];
}

/** The first id of a token that is a short word; those below are characters. */
const firstWord = 2 ** 21;
const shortWord = /^ ?\w{1,3}$/;

/** Returns one id for a short word, with or without a space before it, else one for each character. */
function tokenIds(text: string): number[] {
  return shortWord.test(text)
    ? [packToken(text)]
    : Array.from(text, (letter) => letter.codePointAt(0) ?? 0);
}

/** Returns the id of a short word; of another token its length, which is no word's id. */
function packToken(token: string): number {
  if (!shortWord.test(token)) return token.length;
  return firstWord + Buffer.from(token).readUIntBE(0, token.length);
}

/** Returns the text of tokens that are characters. */
function tokenText(ids: readonly number[]): string {
  const characters = ids.filter((id) => Number.isInteger(id) && id >= 0 && id <= 0x10_ff_ff);
  return characters.map((id) => String.fromCodePoint(id)).join("");
}

/** A token with which the played model might begin. */
type FirstToken = ReturnType<typeof toTokens>[number];

/** The first tokens of answers without a label. */
const smallTalk: readonly (readonly [token: string, share: number])[] = [
  ["The", 0.5],
  ["I", 0.25],
  ["Well", 0.15],
  ["**", 0.1],
];
/** The share of the labels if the model follows instructions; chosen. */
const labelShare = 0.97;
/** Far below the client's default `minLabelMass`, a half. */
const lowLabelShare = 0.2;
/** A printed 0 is below 0.005. */
const smallest = 1e-4;

/** Returns the possible first tokens of the answer to a prompt, likeliest first, by the judge. */
function tokensFor(call: Call, prompt: string, { answer }: EmulatorContext) {
  const { trap } = call;
  const askedPrompt = readPrompt(prompt);
  if (askedPrompt === null) return { tokens: toTokens(smallTalk), basis: "none" as const, trap };
  const { state, question } = askedPrompt;
  const { answers, basis } = answer({ state, questions: { question } });
  const { probabilities } = answers["question"] as JudgedAnswer;
  // A yes/no answer has the probability of "yes" only.
  const toShare = (name: string) => probabilities[name] ?? 1 - (probabilities["yes"] ?? 1);
  const weights = askedPrompt.labels.map(({ label, stands }): [string, number] => {
    return [label, stands.reduce((sum, name) => sum + toShare(name), smallest)];
  });
  const sum = weights.reduce((total, [, weight]) => total + weight, 0);
  const share = trap === "low-label-mass" ? lowLabelShare : labelShare;
  const labels = weights.map(([label, weight]) => [label, (weight / sum) * share] as const);
  const others = smallTalk.map(([token, part]) => [token, part * (1 - share)] as const);
  return { tokens: toTokens([...labels, ...others]), basis, trap };
}

function toTokens(shares: readonly (readonly [string, number])[]) {
  return shares
    .map(([token, share]) => ({ token, logprob: Math.log(share) }))
    .toSorted((a, b) => b.logprob - a.logprob);
}

/** Returns the listed tokens, at most `depth` of them, changed by a trap. */
function listTokens(tokens: readonly FirstToken[], depth: number, trap: Trap | null) {
  const listedItems = tokens.slice(0, trap === "short-list" ? 1 : depth);
  if (trap === "thinking-first") return [{ token: "<think>", logprob: Math.log(0.99) }];
  if (trap === "probability-as-logprob") {
    return listedItems.map(({ token, logprob }) => ({ token, logprob: Math.exp(logprob) }));
  }
  if (trap !== "filler") return listedItems;
  return listedItems.map(({ token, logprob }, index) => {
    return { token, logprob: index === 0 ? logprob : -9999 };
  });
}

const stateStart = "\nSTATE\n";
const stateEnd = "\nEND OF STATE\n";
const proposal = /^Is the answer to this question (yes|no)\?/m;

/** Reads a prompt that lists labels, or returns null for another kind of prompt. */
function readPrompt(prompt: string) {
  const [, afterStart] = splitOnce(prompt, stateStart);
  const [stateText, questionText] = splitOnce(afterStart, stateEnd);
  const [, question] = splitOnce(questionText, "Question: ");
  if (question === "") return null;
  const [instructions] = splitOnce(question, "\n\n");
  const proposedText = proposal.exec(questionText)?.[1] ?? null;
  const lines = [...questionText.matchAll(/^(\w{1,3})\) (.*)$/gm)].map(
    ([, label = "", text = ""]) => {
      return { label, text };
    },
  );
  for (const kind of allKinds) {
    const read = kind.fromPrompt({ instructions, proposedText, lines });
    if (read !== null) return { ...read, state: readState(stateText) };
  }
  return null;
}

function readState(text: string): Content {
  try {
    return JSON.parse(text) as Content;
  } catch {
    return text;
  }
}

function splitOnce(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}
