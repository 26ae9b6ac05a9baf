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
  emulatedCall: Call,
  body: Body,
  playedParts: { readonly engine: string; readonly context: EmulatorContext },
) => Response;

/** The most tokens that a chat lists. */
const mostListed = 20;

/** Answers a chat; with log-probabilities from the judge if the body wants them. */
const chat: EngineRoute = (emulatedCall, body, { engine, context }) => {
  const isAsked = body["logprobs"] === true;
  const reply = isAsked ? null : chatReply(body, context.nextId);
  if (reply !== null) return reply;
  const completionId = `chatcmpl-${context.nextId()}`;
  const promptText = messageIn(body);
  const { tokens, basis, trap } = tokensFor(emulatedCall, promptText, context);
  const nestingDepth = Math.min(Number(body["top_logprobs"] ?? 0), mostListed);
  const tokenIds = engine === "vllm" ? idsIn(body, "logprob_token_ids") : [];
  const namedTokens =
    tokenIds.length === 0
      ? tokens
      : tokens.filter(({ token }) => tokenIds.includes(packToken(token)));
  const listedTokens = listTokens(namedTokens, tokenIds.length || nestingDepth, trap);
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
      id: completionId,
      object: "chat.completion",
      created: 0,
      model: lexicalModel,
      choices: [choice],
      usage: { prompt_tokens: estimateTextTokens(promptText), completion_tokens: 1 },
    },
    basis,
  );
};

const completion: EngineRoute = (emulatedCall, body, { context }) => {
  const promptText = textIn(body, "prompt");
  const { tokens, basis, trap } = tokensFor(emulatedCall, promptText, context);
  const listedItems = listTokens(tokens, Number(body["n_probs"] ?? 0), trap);
  const position = { ...tokens[0], top_logprobs: listedItems };
  return answerJson(
    {
      content: tokens[0]?.token,
      model: lexicalModel,
      ...(trap !== "no-logprobs" && { completion_probabilities: [position] }),
      tokens_evaluated: estimateTextTokens(promptText),
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

const generate: EngineRoute = (emulatedCall, body, { context }) => {
  const promptText = tokenText(idsIn(body, "input_ids"));
  const { tokens, basis, trap } = tokensFor(emulatedCall, promptText, context);
  const nestingDepth = Number(body["top_logprobs_num"] ?? 0);
  const tokenIds = idsIn(body, "token_ids_logprob");
  const namedItems = tokens.filter(({ token }) => tokenIds.includes(packToken(token)));
  const listed = (some: readonly FirstToken[], count: number) =>
    listTokens(some, count, trap).map(({ token, logprob }) => {
      return [logprob, packToken(token), token];
    });
  const meta_info = {
    prompt_tokens: estimateTextTokens(promptText),
    completion_tokens: 1,
    ...(trap !== "no-logprobs" && {
      output_top_logprobs: [listed(tokens, nestingDepth)],
      output_token_ids_logprobs: [trap === "short-list" ? [] : listed(namedItems, tokenIds.length)],
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

function textIn(body: Body, fieldName: string): string {
  const encodedText = body[fieldName];
  if (typeof encodedText === "string") return encodedText;
  throw new RequestError(`Expected text in ${fieldName}.`);
}

function idsIn(body: Body, fieldName: string): readonly number[] {
  const ids = body[fieldName];
  return Array.isArray(ids) ? ids.filter((tokenId) => typeof tokenId === "number") : [];
}

/** The first id of a token that is a short word; those below are characters. */
const firstWord = 2 ** 21;
const shortWord = /^ ?\w{1,3}$/;

/** Returns one id for a short word, with or without a space before it, else one for each character. */
function tokenIds(encodedText: string): number[] {
  return shortWord.test(encodedText)
    ? [packToken(encodedText)]
    : Array.from(encodedText, (letter) => letter.codePointAt(0) ?? 0);
}

/** Returns the id of a short word; of another token its length, which is no word's id. */
function packToken(tokenText: string): number {
  if (!shortWord.test(tokenText)) return tokenText.length;
  return firstWord + Buffer.from(tokenText).readUIntBE(0, tokenText.length);
}

/** Returns the text of tokens that are characters. */
function tokenText(tokenIds: readonly number[]): string {
  const characters = tokenIds.filter(
    (tokenId) => Number.isInteger(tokenId) && tokenId >= 0 && tokenId <= 0x10_ff_ff,
  );
  return characters.map((tokenId) => String.fromCodePoint(tokenId)).join("");
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
function tokensFor(emulatedCall: Call, promptText: string, { answer }: EmulatorContext) {
  const { trap } = emulatedCall;
  const askedPrompt = readPrompt(promptText);
  if (askedPrompt === null) return { tokens: toTokens(smallTalk), basis: "none" as const, trap };
  const { state, question } = askedPrompt;
  const { answers, basis } = answer({
    state,
    questions: { question },
  });
  const { probabilities } = answers["question"] as JudgedAnswer;
  // A yes/no answer has the probability of "yes" only.
  const toShare = (labelName: string) =>
    probabilities[labelName] ?? 1 - (probabilities["yes"] ?? 1);
  const weights = askedPrompt.labels.map(({ label, stands }): [string, number] => {
    return [label, stands.reduce((sum, labelName) => sum + toShare(labelName), smallest)];
  });
  const sum = weights.reduce((total, [, weight]) => total + weight, 0);
  const share = trap === "low-label-mass" ? lowLabelShare : labelShare;
  const labels = weights.map(([labelText, weight]) => [labelText, (weight / sum) * share] as const);
  const others = smallTalk.map(([tokenText, part]) => [tokenText, part * (1 - share)] as const);
  return { tokens: toTokens([...labels, ...others]), basis, trap };
}

function toTokens(shares: readonly (readonly [string, number])[]) {
  return shares
    .map(([tokenText, share]) => ({ token: tokenText, logprob: Math.log(share) }))
    .toSorted((a, b) => b.logprob - a.logprob);
}

/** Returns the listed tokens, at most `depth` of them, changed by a trap. */
function listTokens(tokens: readonly FirstToken[], nestingDepth: number, engineTrap: Trap | null) {
  const listedItems = tokens.slice(0, engineTrap === "short-list" ? 1 : nestingDepth);
  if (engineTrap === "thinking-first") return [{ token: "<think>", logprob: Math.log(0.99) }];
  if (engineTrap === "probability-as-logprob") {
    return listedItems.map(({ token, logprob }) => ({
      token,
      logprob: Math.exp(logprob),
    }));
  }
  if (engineTrap !== "filler") return listedItems;
  return listedItems.map(({ token, logprob }, index) => {
    return { token, logprob: index === 0 ? logprob : -9999 };
  });
}

const stateStart = "\nSTATE\n";
const stateEnd = "\nEND OF STATE\n";
const proposal = /^Is the answer to this question (yes|no)\?/m;

/** Reads a prompt that lists labels, or returns null for another kind of prompt. */
function readPrompt(promptText: string) {
  const [, afterStart] = splitOnce(promptText, stateStart);
  const [stateText, questionText] = splitOnce(afterStart, stateEnd);
  const [, question] = splitOnce(questionText, "Question: ");
  if (question === "") return null;
  const [instructions] = splitOnce(question, "\n\n");
  const proposedText = proposal.exec(questionText)?.[1] ?? null;
  const lines = [...questionText.matchAll(/^(\w{1,3})\) (.*)$/gm)].map(
    ([, labelText = "", text = ""]) => {
      return { label: labelText, text };
    },
  );
  for (const questionKind of allKinds) {
    const read = questionKind.fromPrompt({ instructions, proposedText, lines });
    if (read !== null) return { ...read, state: readState(stateText) };
  }
  return null;
}

function readState(promptText: string): Content {
  try {
    return JSON.parse(promptText) as Content;
  } catch {
    return promptText;
  }
}

function splitOnce(wholeText: string, mark: string): [before: string, after: string] {
  const at = wholeText.indexOf(mark);
  return at < 0 ? [wholeText, ""] : [wholeText.slice(0, at), wholeText.slice(at + mark.length)];
}
