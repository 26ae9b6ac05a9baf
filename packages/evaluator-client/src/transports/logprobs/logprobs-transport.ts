import type { OwnTransportName } from "../../environment.ts";
import { type EvaluationRequest, perQuestions } from "../../questions/request.ts";
import { MOST_TOKENS_OF_A_PROMPT } from "../call-estimate.ts";
import { estimateTextTokens, mostTextTokens } from "../../questions/text-tokens.ts";
import { checkName, checkPrice, rejectOption } from "../../options.ts";
import { type Question, questionKinds } from "../../questions/kinds.ts";
import { rejectQuestion } from "../../questions/rejections.ts";
import { onceLoaded } from "../once-loaded.ts";
import {
  checkTransportOptions,
  httpClientFor,
  readServer,
  type TransportOptions,
} from "../post-transport.ts";
import type { Transport } from "../transport.ts";
import type { TokenPrice } from "./label-calls.ts";
import type { LabelServerName } from "./label-servers.ts";
import {
  type Debias,
  planQuestion,
  promptFormat,
  type QuestionPlan,
  statePrompt,
} from "./question-plan.ts";

/** How to reach a chat model that gives log-probabilities. */
export interface LogprobsTransportOptions extends TransportOptions {
  /** Address in front of `/v1`; a `/v1` at its end is ignored. @default EVALUATOR_LOGPROBS_BASE_URL */
  baseUrl?: string | undefined;
  /** The model's name at the server. @default EVALUATOR_MODEL_ID */
  model?: string | undefined;
  /** The server's key; null sends none. @default EVALUATOR_LOGPROBS_API_KEY, else none */
  apiKey?: string | null | undefined;
  /** The kind of server. @default "auto": detected once */
  server?: LabelServerName | "auto" | undefined;
  /** Whether several readings cancel the model's bias for a label. @default "balanced" */
  debias?: Debias | undefined;
  /** The least total probability of a question's labels, 0..1. @default 0.5 */
  minLabelMass?: number | undefined;
  /** Requests in flight at once, over all evaluations. @default 4 */
  concurrency?: number | undefined;
  /** The model's price, such as an entry of `listModels`. @default none, and `costUsd` is null */
  price?: TokenPrice | undefined;
}

/**
 * Reads any chat model as a decision model, from the log-probabilities of its first token.
 *
 * @throws {ConfigurationError} when the address or model is missing or an option is wrong.
 * @example
 * ```ts
 * const transport = logprobsTransport({ baseUrl: "http://127.0.0.1:11434", model: "qwen3:4b" });
 * ```
 */
export function logprobsTransport(options: LogprobsTransportOptions = {}): Transport {
  const { address, debias, minLabelMass } = readOptions(options);
  const { baseUrl, model } = address;
  const plansOf = perQuestions((questions) =>
    Object.entries(questions).map(([id, question]) => {
      checkSize(id, question);
      return { id, plan: planQuestion(question, debias) };
    }),
  );
  const http = httpClientFor(options);
  const server = { ...address, http, addedHeaders: { ...options.headers } };
  const asking = { plansOf, minLabelMass, price: options.price };
  return {
    name: "logprobs" satisfies OwnTransportName,
    target: { url: baseUrl, modelId: model, format: `${promptFormat} ${debias}` },
    estimate: (request) => estimate(request, plansOf(request.questions)),
    send: onceLoaded(async () => (await import("./label-calls.ts")).labelCalls(server, asking)),
    close: () => http.close(),
  };
}

function checkSize(questionId: string, question: Question): void {
  const kind = questionKinds[question.type];
  const count = kind.keys(question).length;
  if (kind.limit === null || count <= kind.limit.most) return;
  const { unit, most } = kind.limit;
  rejectQuestion(questionId, `has ${count} ${unit}s; logprobsTransport labels at most ${most}`);
}

/** Estimates a request at most: each block is opened, and each list is long enough. */
function estimate({ state }: EvaluationRequest, plans: readonly { readonly plan: QuestionPlan }[]) {
  const sets = plans.flatMap(({ plan: { whole, blocks } }) =>
    blocks === undefined ? whole : [blocks.groups, ...blocks.members.map(({ set }) => set)],
  );
  const prompts = sets.flatMap(({ readings }) => readings.map(({ prompt }) => prompt));
  const calls = prompts.length;
  const tokensBy = (count: (text: string) => number) =>
    prompts.reduce((sum, prompt) => sum + count(prompt), calls * count(statePrompt(state)));
  return {
    calls,
    inputTokens: tokensBy(estimateTextTokens),
    outputTokens: calls,
    get mostInputTokens() {
      return tokensBy(mostTextTokens) + calls * MOST_TOKENS_OF_A_PROMPT;
    },
  };
}

/** The names alone; the code of the servers is loaded by the first call. */
const serverNames: Readonly<Record<LabelServerName, true>> = {
  openai: true,
  vllm: true,
  "llama.cpp": true,
  sglang: true,
  ollama: true,
};
const ofServer = ["baseUrl", "model", "apiKey", "server", "price"];
const ofReadings = ["debias", "minLabelMass", "concurrency"];

function readOptions(options: LogprobsTransportOptions) {
  checkTransportOptions(options, ...ofServer, ...ofReadings);
  const { server = "auto", debias = "balanced", minLabelMass = 0.5, concurrency = 4 } = options;
  checkName("server", server, ["auto", ...Object.keys(serverNames)]);
  checkName("debias", debias, ["raw", "balanced"]);
  if (!(minLabelMass >= 0 && minLabelMass <= 1))
    rejectOption("minLabelMass", "is a number from 0 to 1");
  const isCount = Number.isSafeInteger(concurrency) && concurrency >= 1;
  if (!isCount) rejectOption("concurrency", "is a whole number from 1 up");
  checkPrice("price.inputUsdPerMillionTokens", options.price?.inputUsdPerMillionTokens ?? 0);
  checkPrice("price.outputUsdPerMillionTokens", options.price?.outputUsdPerMillionTokens ?? 0);
  const read = readServer("logprobs", options, { apiKey: null });
  return { address: { ...read, concurrency, server }, debias, minLabelMass };
}
