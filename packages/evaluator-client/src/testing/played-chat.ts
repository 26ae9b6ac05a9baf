import { createEvaluator } from "../create-evaluator.ts";
import {
  logprobsTransport,
  type LogprobsTransportOptions,
} from "../transports/logprobs/logprobs-transport.ts";

/** A server of one's own, and nothing from the environment. */
export const ownServer = { baseUrl: "http://127.0.0.1:8080/v1", model: "a-model", env: {} };

/** Returns an evaluator that never retries, over {@link ownServer} as a test plays it. */
export function evaluatorOver(
  fetch: NonNullable<LogprobsTransportOptions["fetch"]>,
  options: LogprobsTransportOptions = {},
) {
  const transport = logprobsTransport({ ...ownServer, fetch, ...options });
  return createEvaluator({ transport, limits: {}, maxRetries: 0 });
}

/** Returns so many options, by their number. */
export function manyOptions(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`o${index}`, "x"]));
}

/** What a played model makes of a question: a weight for each of its options or levels, or for yes and no. */
export type Opinion = (question: string, option: string) => number;

/** How a played chat server answers. */
export interface PlayedChatOptions {
  /** What it multiplies to a label's probability, whatever stands behind it. */
  readonly likes?: Readonly<Record<string, number>>;
  /** The share of probability that goes to no label. @default 0.02 */
  readonly elsewhere?: number;
  /** The most tokens it lists. @default 20 */
  readonly mostListed?: number;
}

/** A request to a played server. */
export interface PlayedCall {
  readonly path: string;
  readonly method: string;
  readonly body: Record<string, unknown>;
  /** The user's message, where there is one. */
  readonly prompt: string;
}

/** Returns a `fetch` that answers as an OpenAI-like chat would, and what it was asked. */
export function playChat(opinion: Opinion, options: PlayedChatOptions = {}) {
  const calls: PlayedCall[] = [];
  const fetch = async (url: string, { method = "GET", body }: RequestInit): Promise<Response> => {
    const call = toCall(url, method, body);
    calls.push(call);
    if (call.path === "/v1/models") return Response.json({ data: [{ id: "a", owned_by: "me" }] });
    if (call.path !== "/v1/chat/completions") return Response.json({}, { status: 404 });
    return Response.json(chatBody(chatTokens(call.prompt, opinion, options)));
  };
  return { fetch, calls };
}

/** Returns what was asked. */
export function toCall(url: string, method: string, body: unknown): PlayedCall {
  const parsed = (body ? JSON.parse(body as string) : {}) as Record<string, unknown>;
  const [message] = (parsed["messages"] ?? []) as { content: string }[];
  return { path: new URL(url).pathname, method, body: parsed, prompt: message?.content ?? "" };
}

/** Returns the body of a chat's answer whose first token might have been any of these. */
export function chatBody(tokens: readonly { token: string; logprob: number }[]) {
  const [first] = tokens;
  const content = [{ ...first, top_logprobs: tokens }];
  return {
    id: "chatcmpl-1",
    model: "a-model-1",
    choices: [
      { index: 0, message: { role: "assistant", content: first?.token }, logprobs: { content } },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 1 },
  };
}

/** Returns the tokens that a model of this opinion might say first, likeliest first. */
export function chatTokens(
  prompt: string,
  opinion: Opinion,
  { likes = {}, elsewhere = 0.02, mostListed = 20 }: PlayedChatOptions = {},
) {
  const weights = labelWeights(prompt, opinion).map(([label, weight]): [string, number] => {
    return [label, weight * (likes[label] ?? 1)];
  });
  const sum = weights.reduce((total, [, weight]) => total + weight, 0);
  const tokens = weights.map(([token, weight]) => {
    return { token, logprob: Math.log((weight / sum) * (1 - elsewhere)) };
  });
  return [...tokens, { token: "The", logprob: Math.log(elsewhere) }]
    .toSorted((a, b) => b.logprob - a.logprob)
    .slice(0, mostListed);
}

function labelWeights(prompt: string, opinion: Opinion): [string, number][] {
  const [, question = ""] = /^Question: (.*)$/m.exec(prompt) ?? [];
  const proposed = /^Is the answer to this question (yes|no)\?/m.exec(prompt)?.[1];
  if (proposed !== undefined) {
    const yes = opinion(question, "yes");
    const no = opinion(question, "no");
    return proposed === "yes"
      ? [
          ["yes", yes],
          ["no", no],
        ]
      : [
          ["yes", no],
          ["no", yes],
        ];
  }
  const asked = prompt.slice(prompt.indexOf("\nEND OF STATE"));
  return [...asked.matchAll(/^(\w+)\) (.*)$/gm)].map(([, label = "", text = ""]) => {
    // A group is as likely as its options together.
    const options = text.split(" | ");
    return [label, options.reduce((total, option) => total + opinion(question, option), 0)];
  });
}

/** How much an option is liked, by its number. */
export const byNumber: Opinion = (_, option) => Number(/\d+/.exec(option)?.[0] ?? 0) + 1;
