import {
  boolean,
  choice,
  createEvaluator,
  directTransport,
  type Evaluation,
  EvaluatorError,
  logprobsTransport,
  StatusError,
  type Transport,
} from "evaluator-client";
import { type CliContext, parseJson } from "evaluator-kit";

interface ProbedServer {
  /** Without a slash and `/v1` at its end. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | null;
}

const knownRequest = {
  state: "The sky over the harbour is blue today, and there is not a cloud in it.",
  questions: {
    blue: boolean("Does the text say that the sky is blue?"),
    topic: choice("What is the text about?", {
      weather: "the weather or the sky",
      invoice: "an invoice or a bill that is to be paid",
      football: "a football match",
    }),
  },
};

type Known = Evaluation<typeof knownRequest.questions>;

/** Asks known questions on every route that a server may have. */
export async function probeServer(server: ProbedServer, context: CliContext) {
  return {
    systemone: await probeNative("systemone", server, context),
    decisions: await probeNative("decisions", server, context),
    logprobs: await probeLogprobs(server, context),
  };
}

/** Asks the known questions through a route of the contract. */
async function probeNative(
  wire: "systemone" | "decisions",
  { baseUrl, model, apiKey }: ProbedServer,
  context: CliContext,
) {
  const transport = directTransport({ baseUrl, model, apiKey, wire, env: {} });
  const outcome = await askKnown(transport, context);
  if (!(outcome instanceof EvaluatorError)) {
    return { isUsable: true, found: "yes", right: rightIn(outcome) };
  }
  const isAbsent = outcome instanceof StatusError && [404, 405].includes(outcome.status);
  const problem = isAbsent ? `no (${outcome.status})` : outcome.message;
  return { isUsable: false, found: problem, right: null };
}

/** Asks the known questions by log-probabilities, twice, and examines the exchanged messages. */
async function probeLogprobs({ baseUrl, model, apiKey }: ProbedServer, context: CliContext) {
  const calls: RecordedCall[] = [];
  const fetch = recordingFetch(calls);
  const ask = () =>
    askKnown(logprobsTransport({ baseUrl, model, apiKey, env: {}, fetch }), context);
  const first = await ask();
  const isUsable = !(first instanceof EvaluatorError);
  const report = {
    server: serverKind(calls),
    listedTokens: Math.max(0, ...calls.map(({ json }) => longestList(json))),
    hasTokenizer: calls.some(({ path, json }) => path === "/tokenize" && json !== null),
    isUsable,
    found: isUsable ? "yes" : first.message,
    right: null as number | null,
    labelMass: null as number | null,
    flips: false,
    /** The median time of a call, once warm; null if unknown. */
    callMs: null as number | null,
  };
  if (!isUsable) return report;
  const cold = calls.length;
  const second = await ask();
  const lastEvaluation = second instanceof EvaluatorError ? first : second;
  const details = Object.values(
    lastEvaluation.providerMetadata["logprobs"] as Record<
      string,
      { labelMass: number; flips: boolean }
    >,
  );
  return Object.assign(report, {
    right: rightIn(lastEvaluation),
    labelMass: Math.min(...details.map(({ labelMass }) => labelMass)),
    flips: details.some(({ flips }) => flips),
    callMs: medianMs(calls.slice(cold)),
  });
}

async function askKnown(transport: Transport, { signal }: CliContext) {
  const timeouts = { attemptTimeoutMs: 300_000, deadlineMs: 300_000 };
  const settings = { env: {}, limits: {}, maxRetries: 0, ...timeouts };
  await using evaluator = createEvaluator({ transport, ...settings });
  return await evaluator.evaluate(knownRequest, { signal }).catch((error: unknown) => {
    if (error instanceof EvaluatorError) return error;
    throw error;
  });
}

/** Returns the lower probability of the two right answers. */
function rightIn({ answers }: Known): number {
  return Math.min(answers.blue.probability, answers.topic.probabilities.weather);
}

interface RecordedCall {
  readonly path: string;
  /** The body of the request. */
  readonly body: string;
  /** The answer; null if it is not JSON. */
  readonly json: unknown;
  readonly ms: number;
}

/** Returns a `fetch` that adds its requests and their answers to `calls`. */
function recordingFetch(calls: RecordedCall[]) {
  return async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const startedAt = performance.now();
    const response = await fetch(url, init);
    const text = await response.clone().text();
    const { pathname } = new URL(url instanceof Request ? url.url : url);
    calls.push({
      path: pathname.replace(/^.*(?=\/(?:v1|api)\/)|^.*(?=\/[^/]+$)/, ""),
      body: typeof init?.body === "string" ? init.body : "",
      json: response.ok ? parseJson(text) : null,
      ms: performance.now() - startedAt,
    });
    return response;
  };
}

/** Returns the kind of server by how it was asked, or null before it was. */
function serverKind(calls: readonly RecordedCall[]): string | null {
  const recordedCalls = calls.filter(({ body }) => body !== "");
  if (recordedCalls.some(({ path }) => path === "/completion")) return "llama.cpp";
  if (recordedCalls.some(({ path }) => path === "/generate")) return "sglang";
  const chat = recordedCalls.find(({ path }) => path === "/v1/chat/completions");
  if (chat === undefined) return null;
  if (chat.body.includes('"chat_template_kwargs"')) return "vllm";
  return chat.body.includes('"reasoning_effort"') ? "ollama" : "openai";
}

const questionPaths = new Set(["/v1/chat/completions", "/completion", "/generate"]);

function medianMs(calls: readonly RecordedCall[]): number | null {
  const recordedCalls = calls.filter(({ path }) => questionPaths.has(path));
  const times = recordedCalls.map(({ ms }) => ms).toSorted((one, other) => one - other);
  return times[Math.floor(times.length / 2)] ?? null;
}

const lists = new Set(["top_logprobs", "output_top_logprobs", "output_token_ids_logprobs"]);

/** Returns the length of the longest list of tokens anywhere in an answer. */
function longestList(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const lengths = Object.entries(value).map(([name, part]) => {
    if (!lists.has(name) || !Array.isArray(part)) return longestList(part);
    const [first] = part as unknown[];
    // SGLang has one list for each position.
    return Array.isArray(first) ? first.length : part.length;
  });
  return Math.max(0, ...lengths);
}
